#include <gtest/gtest.h>

#include "compiler/ops/infer_text.hpp"

namespace poprt::ops {
namespace {

TEST(RecurrentOps, OutputsOfAllForms) {
  EXPECT_EQ(InferText("RNN", {F32({5, 2, 3}), F32({1, 4, 3}), F32({1, 4, 4})}, {}, 2),
            "float32[5, 1, 2, 4]; float32[1, 2, 4]");
  EXPECT_EQ(InferText("GRU", {F16({5, 2, 3}), F16({2, 12, 3}), F16({2, 12, 4})},
                      {{"direction", std::string("bidirectional")}}, 2),
            "float16[5, 2, 2, 4]; float16[2, 2, 4]");
  EXPECT_EQ(InferText("LSTM", {F32({2, 5, 3}), F32({1, 16, 3}), F32({1, 16, 4})},
                      {{"layout", std::int64_t{1}}}, 3),
            "float32[2, 5, 1, 4]; float32[2, 1, 4]; float32[2, 1, 4]");
}

TEST(RecurrentOps, OptionalInputsAreChecked) {
  const TensorType x = F32({5, 2, 3}), w = F32({1, 16, 3}), r = F32({1, 16, 4});
  EXPECT_EQ(InferText("LSTM", {x, w, r, F32({1, 32}), I32({2}), F32({1, 2, 4}), F32({1, 2, 4}),
                               F32({1, 12})}),
            "float32[5, 1, 2, 4]");
  EXPECT_EQ(InferText("LSTM", {x, w, r, F32({1, 16})}),
            "input 3 (B) is float32[1, 16], it must be float32[1, 32]");
  EXPECT_EQ(InferText("LSTM", {x, w, r, {}, I64({2})}),
            "input 4 (sequence_lens) is int64[2], it must be int32[2]");
  EXPECT_EQ(InferText("LSTM", {x, w, r, {}, {}, F32({2, 1, 4})}),
            "input 5 (initial_h) is float32[2, 1, 4], it must be float32[1, 2, 4]");
  EXPECT_EQ(InferText("LSTM", {x, w, r, {}, {}, {}, {}, F32({1, 16})}),
            "input 7 (P) is float32[1, 16], it must be float32[1, 12]");
  EXPECT_EQ(InferText("RNN", {F32({5, 3}), w, r}),
            "input 0 (X) is float32[5, 3], its rank must be 3");
  EXPECT_EQ(InferText("RNN", {x, w, r}),
            "input 1 (W) is float32[1, 16, 3], it must be float32[1, 4, 3]");
}

}  // namespace
}  // namespace poprt::ops
