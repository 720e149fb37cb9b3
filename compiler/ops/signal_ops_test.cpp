#include <gtest/gtest.h>

#include "compiler/ops/infer_text.hpp"

namespace poprt::ops {
namespace {

TEST(SignalOps, DftDependsOnTheOptions) {
  EXPECT_EQ(InferText("DFT", {F32({2, 7, 1})}), "float32[2, 7, 2]");
  EXPECT_EQ(
      InferText("DFT", {F32({2, 7, 3, 1})}, {{"axis", Ints{1}}, {"onesided", std::int64_t{1}}}),
      "float32[2, 4, 3, 2]");
  EXPECT_EQ(
      InferText(
          "DFT", {F32({2, 7, 2})},
          {{"onesided", std::int64_t{1}}, {"inverse", std::int64_t{1}}, {"dft_length", Ints{13}}}),
      "float32[2, 13, 1]");
  EXPECT_EQ(InferText("DFT", {F32({7})}),
            "the signal has the shape [7], its rank must be 2 or more and its last extent 1 (real) "
            "or 2 (complex)");
  EXPECT_EQ(InferText("DFT", {I32({7, 1})}), "input 0 is int32[7, 1], its elements must be floats");
}

TEST(SignalOps, StftCutsFrames) {
  EXPECT_EQ(InferText("STFT", {F32({2, 100, 1}), F32({16})}, {{"frame_step", Ints{8}}}),
            "float32[2, 11, 9, 2]");
  EXPECT_EQ(InferText("STFT", {F32({2, 100}), F32({16})}, {{"frame_step", Ints{8}}}),
            "float32[2, 11, 9, 2]");
  EXPECT_EQ(
      InferText("STFT", {F32({100}), F32({16})}, {{"frame_step", Ints{8}}}),
      "the signal has the shape [100], its rank must be 3: batch, time, components, or 2 when "
      "it is real");
  EXPECT_EQ(
      InferText(
          "STFT", {F32({2, 100, 2})},
          {{"frame_step", Ints{8}}, {"frame_length", Ints{16}}, {"onesided", std::int64_t{0}}}),
      "float32[2, 11, 16, 2]");
  EXPECT_EQ(InferText("STFT", {F32({2, 100, 1}), F16({16})}, {{"frame_step", Ints{8}}}),
            "input 1 is float16[16], its elements must be float32");
  EXPECT_EQ(InferText("STFT", {F32({2, 100, 1})}), "attribute 'frame_step' is missing");
}

TEST(SignalOps, WindowsAndMelWeightsNeedNoInputs) {
  EXPECT_EQ(InferText("HannWindow", {}, {{"size", Ints{10}}}), "float32[10]");
  EXPECT_EQ(
      InferText("HammingWindow", {}, {{"size", Ints{10}}, {"output_datatype", std::int64_t{11}}}),
      "float64[10]");
  EXPECT_EQ(InferText("BlackmanWindow", {}, {{"size", Ints{-1}}}),
            "attribute 'size' is -1, it must not be negative");
  EXPECT_EQ(
      InferText("BlackmanWindow", {}, {{"size", Ints{3}}, {"output_datatype", std::int64_t{9}}}),
      "attribute 'output_datatype' names bool, it must be a type of numbers");
  EXPECT_EQ(InferText("MelWeightMatrix", {},
                      {{"num_mel_bins", Ints{8}},
                       {"dft_length", Ints{16}},
                       {"sample_rate", Ints{8192}},
                       {"lower_edge_hertz", Floats{0}},
                       {"upper_edge_hertz", Floats{4096}}}),
            "float32[9, 8]");
}

TEST(EinsumOps, FollowsTheEquation) {
  EXPECT_EQ(InferText("Einsum", {F32({2, 3}), F32({3, 4})}, {{"equation", std::string("ij,jk")}}),
            "float32[2, 4]");
  EXPECT_EQ(InferText("Einsum", {F32({2, 3})}), "attribute 'equation' is missing");
  EXPECT_EQ(InferText("Einsum", {F32({2, 3})}, {{"equation", std::string("ij->k")}}),
            "attribute 'equation' is \"ij->k\": at position 4, 'k' is in no operand");
}

TEST(DetOps, NeedsSquares) {
  EXPECT_EQ(InferText("Det", {F32({2, 3, 3})}), "float32[2]");
  EXPECT_EQ(InferText("Det", {F32({2, 3})}),
            "input 0 is float32[2, 3], its last two extents must be equal");
}

}  // namespace
}  // namespace poprt::ops
