#include "runtime/kernels/block_sizes.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/kernels/blocked/pack_blocked.hpp"
#include "runtime/kernels/blocked/pack_winograd.hpp"
#include "runtime/kernels/kernel_test_tensors.hpp"
#include "runtime/kernels/packed/pack.hpp"

namespace poprt::kernels::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

struct CutKernel {
  std::string kernel;
  std::vector<TensorType> inputs;
  TensorType output;
  Attributes attributes;
};

Attributes ConvAttributes(std::int64_t ins, std::int64_t outs, std::int64_t group = 1,
                          std::int64_t side = 3) {
  return {{"in_channels", ins},
          {"out_channels", outs},
          {"group", group},
          {"kernel_shape", Ints{side, side}},
          {"pads", Ints(4, side / 2)}};
}

TensorType Floats(Shape shape) { return {ElementType::kFloat32, std::move(shape)}; }

/// One call of every kernel that cuts its work, large enough to be cut along each axis.
std::vector<CutKernel> CutKernels() {
  constexpr auto kFloat = ElementType::kFloat32;
  const TensorType image = BlockedImageType(2, 40, 13, 12);
  Attributes winograd = ConvAttributes(40, 48);
  winograd.set("tile", std::int64_t{4});
  return {
      {"gemm",
       {Floats({2, 33, 70}), PackedGemmType(70, 90, kFloat)},
       Floats({2, 33, 90}),
       {{"n", std::int64_t{90}}}},
      {"gemm",
       {{ElementType::kFloat16, {33, 70}}, PackedGemmType(70, 90, ElementType::kFloat16)},
       {ElementType::kFloat16, {33, 90}},
       {{"n", std::int64_t{90}}}},
      {"batch_matmul", {Floats({3, 20, 30}), Floats({3, 30, 50})}, Floats({3, 20, 50}), {}},
      {"batch_matmul", {Floats({3, 1, 30}), Floats({3, 30, 50})}, Floats({3, 1, 50}), {}},
      {"conv2d",
       {Floats({2, 20, 9, 11}), PackedConv2dType(40, 180, 1, kFloat)},
       Floats({2, 40, 9, 11}),
       ConvAttributes(20, 40)},
      {"conv2d",
       {Floats({2, 20, 40, 41}), PackedConv2dType(3, 20, 1, kFloat)},
       Floats({2, 3, 40, 41}),
       ConvAttributes(20, 3, 1, 1)},
      {"depthwise_conv2d",
       {Floats({2, 10, 9, 11}), PackedDepthwiseType(10, 9, kFloat)},
       Floats({2, 10, 9, 11}),
       ConvAttributes(10, 10, 10)},
      {"blocked_conv2d",
       {image, PackedBlockedConv2dType(48, 40, 9, 1)},
       BlockedImageType(2, 48, 13, 12),
       ConvAttributes(40, 48)},
      {"blocked_conv2d_planes",
       {Floats({2, 3, 13, 12}), PackedBlockedPlanesType(48, 3, 9)},
       BlockedImageType(2, 48, 13, 12),
       ConvAttributes(3, 48)},
      {"blocked_pointwise_conv2d",
       {image, PackedBlockedPointwiseType(48, 40, 1)},
       BlockedImageType(2, 48, 13, 12),
       ConvAttributes(40, 48, 1, 1)},
      {"blocked_depthwise_conv2d",
       {image, PackedBlockedDepthwiseType(40, 9)},
       image,
       ConvAttributes(40, 40, 40)},
      {"blocked_winograd_conv2d",
       {image, PackedWinogradType(48, 40, {3, 3}, 4)},
       BlockedImageType(2, 48, 13, 12),
       winograd},
      {"blocked_pointwise_depthwise",
       {image, PackedBlockedPointwiseType(48, 40, 1), {}, PackedBlockedDepthwiseType(48, 9)},
       BlockedImageType(2, 48, 13, 12),
       ConvAttributes(40, 48)},
      {"blocked_max_pool", {image}, image, ConvAttributes(40, 40)},
      {"blocked_average_pool", {image}, image, ConvAttributes(40, 40)},
      {"attention",
       {Floats({2, 40, 30}), Floats({2, 50, 30}), Floats({2, 50, 20})},
       Floats({2, 40, 20}),
       {{"sizes", Ints{1, 2, 40, 50, 30, 20}},
        {"q_view", Ints{0, 0, 1200, 30, 1}},
        {"k_view", Ints{0, 0, 1500, 30, 1}},
        {"v_view", Ints{0, 0, 1000, 20, 1}},
        {"y_view", Ints{0, 0, 800, 20, 1}}}},
      {"LSTM",
       {Floats({9, 2, 20}), Floats({1, 96, 20}), Floats({1, 96, 24})},
       Floats({9, 1, 2, 24}),
       {{"hidden_size", std::int64_t{24}}}},
  };
}

KernelCall CallOf(const CutKernel& test) {
  KernelCall call{.inputs = test.inputs, .outputs = {test.output}, .attributes = test.attributes};
  if (test.kernel == "LSTM") call.outputs.resize(3);
  return call;
}

Ints EstimateOf(const CutKernel& test) {
  return FindKernel(test.kernel)->bind(CallOf(test)).block_sizes;
}

Values ResultOf(const CutKernel& test, const std::vector<Tensor>& inputs, const Ints& block_sizes) {
  Attributes attributes = test.attributes;
  attributes.set("block_sizes", block_sizes);
  return ToValues(RunOnce(test.kernel, inputs, CallOf(test).outputs, attributes)[0]);
}

/// The estimate with one size changed; all as small and as large as possible.
std::vector<Ints> OtherSizes(const Ints& estimate) {
  std::vector<Ints> all{Ints(estimate.size(), 1), Ints(estimate.size(), kHuge)};
  for (std::size_t i = 0; i < estimate.size(); ++i) {
    for (const std::int64_t size : {(estimate[i] + 1) / 2, estimate[i] * 2, std::int64_t{1}}) {
      all.push_back(estimate);
      all.back()[i] = size;
    }
  }
  return all;
}

TEST(BlockSizesTest, EveryCutGivesTheSameResult) {
  for (const CutKernel& test : CutKernels()) {
    std::mt19937 random(7);
    std::vector<Tensor> inputs;
    for (const TensorType& type : test.inputs) {
      inputs.push_back(type.defined() ? RandomTensor(random, type.element, type.shape, -1, 1)
                                      : Tensor());
    }
    const Ints estimate = EstimateOf(test);
    ASSERT_FALSE(estimate.empty()) << test.kernel;
    const Values expected = ResultOf(test, inputs, estimate);
    double largest = 0;
    for (const double value : expected) largest = std::max(largest, std::abs(value));
    const bool half = test.output.element == ElementType::kFloat16;
    const double tolerance = (half ? 1e-3 : 1e-5) * largest;
    for (const Ints& sizes : OtherSizes(estimate)) {
      SCOPED_TRACE(test.kernel + " in blocks of " + ToString(sizes));
      const Values found = ResultOf(test, inputs, sizes);
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        ASSERT_NEAR(found[i], expected[i], tolerance) << i;
      }
    }
  }
}

TEST(BlockSizesTest, LargeWorkIsManyTasksButFewRowsReadFourPanelsAtOnce) {
  const auto panels_of_task = [](std::int64_t rows, std::int64_t depth, std::int64_t columns) {
    return EstimateOf(
        {"gemm",
         {Floats({rows, depth}), PackedGemmType(depth, columns, ElementType::kFloat32)},
         Floats({rows, columns}),
         {{"n", columns}}})[1];
  };
  EXPECT_EQ(panels_of_task(128, 768, 768), 2);   // 24 tasks
  EXPECT_EQ(panels_of_task(128, 768, 3072), 4);  // 48
  EXPECT_EQ(panels_of_task(7, 768, 768), 2);
  EXPECT_EQ(panels_of_task(6, 768, 768), 4);  // 12

  const TensorType image = BlockedImageType(1, 128, 28, 28);
  const Ints sizes = EstimateOf({"blocked_conv2d",
                                 {image, PackedBlockedConv2dType(128, 128, 9, 1)},
                                 image,
                                 ConvAttributes(128, 128)});
  // 131 tiles of 6 pixels in 8 strips, 8 output blocks in 4 parts: 32 tasks.
  EXPECT_EQ(sizes[1], 17);
  EXPECT_EQ(sizes[2], 2);
}

TEST(BlockSizesTest, WhatTheKernelSaysCutsTheSameAgain) {
  for (CutKernel test : CutKernels()) {
    const Ints estimate = EstimateOf(test);
    for (const Ints& sizes : OtherSizes(estimate)) {
      SCOPED_TRACE(test.kernel + " in blocks of " + ToString(sizes));
      test.attributes.set("block_sizes", sizes);
      const Ints cut = EstimateOf(test);
      test.attributes.set("block_sizes", cut);
      EXPECT_EQ(EstimateOf(test), cut);
    }
  }
}

TEST(BlockSizesTest, RefusesOtherNumbers) {
  for (CutKernel test : CutKernels()) {
    Ints longer = EstimateOf(test);
    longer.push_back(1);
    Ints zero = EstimateOf(test);
    zero.back() = 0;
    for (const Ints& wrong : {longer, zero, Ints{}}) {
      test.attributes.set("block_sizes", wrong);
      try {
        EstimateOf(test);
        ADD_FAILURE() << test.kernel << " takes block_sizes " << ToString(wrong);
      } catch (const KernelError& error) {
        EXPECT_THAT(error.what(), HasSubstr("attribute 'block_sizes' is " + ToString(wrong)));
      }
    }
    test.attributes.set("block_sizes", std::string("small"));
    EXPECT_THROW(EstimateOf(test), KernelError);
  }
}

}  // namespace
}  // namespace poprt::kernels::testing
