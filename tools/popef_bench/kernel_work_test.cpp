#include "tools/popef_bench/kernel_work.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tools/popef_bench/operand_text.hpp"

namespace poprt::bench {
namespace {

using program::Branch;
using program::kNoSlot;
using program::Step;

/// A branch with one step, whose first operands are inputs and whose last one is the output.
Branch OneStep(const std::string& kernel, const std::vector<TensorType>& types,
               Attributes attributes = {}) {
  Branch branch;
  Step step{.name = "n", .kernel = kernel, .inputs = {}, .outputs = {}, .attributes = attributes};
  for (const TensorType& type : types) {
    (branch.slots.size() + 1 < types.size() ? step.inputs : step.outputs)
        .push_back(static_cast<program::SlotIndex>(branch.slots.size()));
    branch.slots.push_back({.type = type});
  }
  branch.steps = {step};
  return branch;
}

TensorType Float(const Shape& shape) { return {ElementType::kFloat32, shape}; }

double Operations(const Branch& branch) {
  return OperationsOf(branch, branch.steps[0]).value_or(-1);
}

TEST(KernelWorkTest, CountsMatrixProducts) {
  EXPECT_EQ(Operations(OneStep("gemm", {Float({3, 5}), Float({1, 80}), Float({3, 4})},
                               {{"n", std::int64_t{4}}})),
            2 * 3 * 4 * 5);
  EXPECT_EQ(
      Operations(OneStep("batch_matmul", {Float({2, 3, 5}), Float({2, 4, 5}), Float({2, 3, 4})},
                         {{"trans_b", std::int64_t{1}}})),
      2 * 2 * 3 * 4 * 5);
  EXPECT_EQ(Operations(OneStep("Gemm", {Float({5, 3}), Float({5, 4}), Float({3, 4})},
                               {{"transA", std::int64_t{1}}})),
            2 * 3 * 4 * 5);
}

TEST(KernelWorkTest, CountsConvolutionsOfEveryLayout) {
  const double wanted = 2.0 * (2 * 20 * 6 * 7) * (8 * 3 * 5);
  const Attributes attributes{{"group", std::int64_t{2}},
                              {"in_channels", std::int64_t{16}},
                              {"kernel_shape", Ints{3, 5}},
                              {"out_channels", std::int64_t{20}}};
  const TensorType image = Float({2, 16, 6, 7});
  const TensorType result = Float({2, 20, 6, 7});
  const TensorType blocked_image = Float({2, 1, 6, 7, 16});
  const TensorType blocked_result = Float({2, 2, 6, 7, 16});
  EXPECT_EQ(Operations(OneStep("Conv", {image, Float({20, 8, 3, 5}), result})), wanted);
  EXPECT_EQ(Operations(OneStep("conv2d", {image, Float({9}), result}, attributes)), wanted);
  for (const char* kernel : {"blocked_conv2d", "blocked_winograd_conv2d"}) {
    EXPECT_EQ(Operations(OneStep(kernel, {blocked_image, Float({9}), blocked_result}, attributes)),
              wanted)
        << kernel;
  }
  EXPECT_EQ(Operations(OneStep("depthwise_conv2d", {image, Float({9}), image}, attributes)),
            2.0 * (2 * 16 * 6 * 7) * 15);
  EXPECT_EQ(Operations(OneStep("ConvTranspose", {image, Float({16, 4, 2, 2}), result})),
            2.0 * (2 * 16 * 6 * 7) * 16);
}

TEST(KernelWorkTest, CountsBothProductsOfAttention) {
  EXPECT_EQ(Operations(OneStep("attention",
                               {Float({2, 3, 5, 8}), Float({2, 3, 7, 8}), Float({2, 3, 7, 9}),
                                Float({2, 3, 5, 9})},
                               {{"sizes", Ints{2, 3, 5, 7, 8, 9}}})),
            2 * (2 * 3 * 5 * 7) * (8 + 9));
}

TEST(KernelWorkTest, DoesNotGuess) {
  const Branch branch = OneStep("Softmax", {Float({3, 5}), Float({3, 5})});
  EXPECT_FALSE(OperationsOf(branch, branch.steps[0]).has_value());
}

TEST(KernelWorkTest, CountsAndShowsOperands) {
  Branch branch = OneStep(
      "Clip",
      {Float({3, 5}), {ElementType::kInt64, {}}, {ElementType::kFloat16, {7}}, Float({3, 5})});
  EXPECT_EQ(OperandBytesOf(branch, branch.steps[0]), 60 + 8 + 14 + 60);
  EXPECT_EQ(OperandText(branch, branch.steps[0]), "3x5 int64:() float16:7 -> 3x5");
  branch.steps[0].inputs[1] = kNoSlot;
  EXPECT_EQ(OperandBytesOf(branch, branch.steps[0]), 60 + 14 + 60);
  EXPECT_EQ(OperandText(branch, branch.steps[0]), "3x5 _ float16:7 -> 3x5");
  branch.steps[0].inputs.clear();
  EXPECT_EQ(OperandText(branch, branch.steps[0]), "-> 3x5");
}

}  // namespace
}  // namespace poprt::bench
