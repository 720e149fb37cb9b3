#include "compiler/ops/fill_open_axis.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "compiler/ops/infer_text.hpp"

namespace poprt::ops {
namespace {

using Axes = std::vector<std::optional<std::size_t>>;
constexpr std::nullopt_t kNone = std::nullopt;

/// What the inputs are filled with, and the axis the outputs are open along; or "refused".
std::string FillText(std::string_view op, const std::vector<TensorType>& inputs, const Axes& open,
                     const Attributes& attributes = {}) {
  constexpr std::array kNames{"any", "0", "1", "lowest", "highest"};
  const auto filled = FillOpenAxis({op, inputs, attributes, 1}, open);
  if (!filled) return "refused";
  std::string text;
  for (const Fill fill : filled->fills) {
    text += (text.empty() ? "" : " ") + std::string(kNames[static_cast<std::size_t>(fill)]);
  }
  return text + (filled->axis ? " along " + std::to_string(*filled->axis) : "");
}

TEST(FillOpenAxisTest, FoldsIgnoreTheirNeutralElement) {
  EXPECT_EQ(FillText("ReduceSum", {F32({9, 3})}, {0}), "0");
  EXPECT_EQ(FillText("ReduceProd", {F32({9, 3})}, {0}), "1");
  EXPECT_EQ(FillText("ReduceMax", {F32({9, 3})}, {0}), "lowest");
  EXPECT_EQ(FillText("ReduceMin", {F32({9, 3})}, {0}), "highest");
  EXPECT_EQ(FillText("ArgMax", {F32({9, 3})}, {0}), "lowest");
  EXPECT_EQ(FillText("ArgMax", {F32({9, 3})}, {0}, {{"select_last_index", std::int64_t{1}}}),
            "refused");
  EXPECT_EQ(FillText("TopK", {F32({9, 3})}, {0}), "lowest");
  EXPECT_EQ(FillText("TopK", {F32({9, 3})}, {0}, {{"largest", std::int64_t{0}}}), "highest");
  EXPECT_EQ(FillText("NonZero", {F32({9, 3})}, {0}), "0");
  EXPECT_EQ(FillText("Hardmax", {F32({9, 3})}, {0}), "refused");
}

TEST(FillOpenAxisTest, WhatRunsAlongTheAxisStaysOpen) {
  EXPECT_EQ(FillText("CumSum", {F32({2, 9})}, {1}), "0 along 1");
  EXPECT_EQ(FillText("Softmax", {F32({2, 9})}, {1}), "lowest along 1");
}

TEST(FillOpenAxisTest, ProductsSumOverTheOpenAxesOfBoth) {
  EXPECT_EQ(FillText("MatMul", {F32({4, 9}), F32({9, 5})}, {1, 0}), "0 0 any");
  EXPECT_EQ(FillText("MatMul", {F32({3, 4, 9}), F32({9})}, {2, 0}), "0 0 any");
  EXPECT_EQ(FillText("MatMul", {F32({4, 9}), F32({9, 5})}, {1, kNone}), "refused");
  EXPECT_EQ(FillText("MatMul", {F32({9, 9}), F32({9, 5})}, {0, 0}), "refused");
  const Attributes transposed{{"transA", std::int64_t{1}}, {"transB", std::int64_t{1}}};
  EXPECT_EQ(FillText("Gemm", {F32({9, 4}), F32({5, 9})}, {0, 1}, transposed), "0 0 any");
  EXPECT_EQ(FillText("Gemm", {F32({9, 4}), F32({5, 9})}, {0, 1}), "refused");
}

TEST(FillOpenAxisTest, NothingBeyondIsSelected) {
  EXPECT_EQ(FillText("Compress", {F32({9}), Bools({9})}, {0, 0}), "any 0");
  EXPECT_EQ(FillText("Compress", {F32({4}), Bools({9})}, {kNone, 0}), "any 0");
  EXPECT_EQ(FillText("Compress", {F32({9, 2}), Bools({9})}, {0, 0}), "refused");
  EXPECT_EQ(FillText("Compress", {F32({2, 9}), Bools({9})}, {1, 0}, {{"axis", std::int64_t{-1}}}),
            "any 0");
  EXPECT_EQ(FillText("Compress", {F32({9}), Bools({9})}, {0, kNone}), "refused");
  EXPECT_EQ(FillText("NonMaxSuppression", {F32({1, 9, 4}), F32({1, 2, 9})}, {1, 2}), "any lowest");
  EXPECT_EQ(FillText("NonMaxSuppression", {F32({9, 9, 4}), F32({9, 2, 9})}, {0, 0}), "refused");
}

}  // namespace
}  // namespace poprt::ops
