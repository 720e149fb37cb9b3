#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "compiler/frontend/model_text.hpp"
#include "runtime/kernels/einsum/einsum_equation.hpp"
#include "runtime/kernels/kernel.hpp"

namespace poprt::frontend {
namespace {

std::string EinsumNode(const std::vector<std::string>& inputs, const std::string& equation) {
  return NodeText("Einsum", inputs, {"y"}, "name: \"e\" " + TextAttribute("equation", equation));
}

/// Imports an Einsum of inputs "a", "b", ... of these shapes.
std::string Upgraded(const std::string& equation,
                     const std::vector<std::vector<std::string>>& shapes) {
  std::string text;
  std::vector<std::string> names;
  for (const auto& shape : shapes) {
    names.emplace_back(1, static_cast<char>('a' + names.size()));
    text += InputText(names.back(), shape);
  }
  return TextOf(ImportText(text + OutputText("y") + EinsumNode(names, equation)));
}

TEST(UpgradeEinsum, ProductsOfMatrices) {
  EXPECT_EQ(Upgraded("ij,jk->ik", {{"2", "3"}, {"3", "4"}}),
            "graph m(a, b)\n"
            "  e/MatMul:0 = MatMul(a, b) : float32[2, 4]\n"
            "  y = Identity(e/MatMul:0) : float32[2, 4]\n"
            "  return y\n");
  EXPECT_EQ(Upgraded("bij,bjk->bik", {{"5", "2", "3"}, {"5", "3", "4"}}),
            "graph m(a, b)\n"
            "  e/MatMul:0 = MatMul(a, b) : float32[5, 2, 4]\n"
            "  y = Identity(e/MatMul:0) : float32[5, 2, 4]\n"
            "  return y\n");
}

TEST(UpgradeEinsum, MatricesAreMultipliedAsTheyLie) {
  // The product exchanges the axes of its second matrix.
  EXPECT_EQ(Upgraded("ik,jk->ij", {{"2", "3"}, {"4", "3"}}),
            "graph m(a, b)\n"
            "  e/Transpose:0 = Transpose(b) perm=[1, 0] : float32[3, 4]\n"
            "  e/MatMul:0 = MatMul(a, e/Transpose:0) : float32[2, 4]\n"
            "  y = Identity(e/MatMul:0) : float32[2, 4]\n"
            "  return y\n");
  // The rows of the result are those of the first.
  EXPECT_EQ(Upgraded("bkj,bik->bij", {{"5", "3", "4"}, {"5", "2", "3"}}),
            "graph m(a, b)\n"
            "  e/MatMul:0 = MatMul(b, a) : float32[5, 2, 4]\n"
            "  y = Identity(e/MatMul:0) : float32[5, 2, 4]\n"
            "  return y\n");
}

TEST(UpgradeEinsum, SumsAndTranspositions) {
  EXPECT_EQ(Upgraded("ij->ji", {{"2", "3"}}),
            "graph m(a)\n"
            "  y = Transpose(a) perm=[1, 0] : float32[3, 2]\n"
            "  return y\n");
  EXPECT_EQ(Upgraded("ijk->ki", {{"2", "3", "4"}}),
            "graph m(a)\n"
            "  e/ReduceSum:0 = ReduceSum(a) axes=[1] keepdims=0 : float32[2, 4]\n"
            "  y = Transpose(e/ReduceSum:0) perm=[1, 0] : float32[4, 2]\n"
            "  return y\n");
}

TEST(UpgradeEinsum, DiagonalsStay) {
  EXPECT_EQ(Upgraded("ii->i", {{"3", "3"}}),
            "graph m(a)\n"
            "  y = Einsum(a) equation=\"ii->i\" : float32[3]\n"
            "  return y\n");
}

TEST(UpgradeEinsum, ErrorsShowThePosition) {
  EXPECT_EQ(Upgraded("ij,j?->i", {{"2", "3"}, {"3", "4"}}),
            "m: node 'e' (Einsum, opset 17, inputs float32[2, 3], float32[3, 4]): attribute "
            "'equation' is \"ij,j?->i\": at position 4, '?' is not expected; terms of letters and "
            "\"...\" are separated by commas, and \"->\" stands before the result");
}

/// Steps of constants are computed while importing: their result must be that of the kernel.
TEST(UpgradeEinsum, StepsComputeTheSame) {
  const std::vector<std::pair<std::string, std::vector<Shape>>> cases{
      {"ij,jk", {{2, 3}, {3, 4}}},
      {"ij,kj->ki", {{2, 3}, {4, 3}}},
      {"bhid,bhjd->bhij", {{2, 3, 4, 5}, {2, 3, 6, 5}}},
      {"bhij,bjhd->bihd", {{2, 3, 4, 5}, {2, 5, 3, 6}}},
      {"...ij,...jk->...ik", {{3, 1, 2, 4}, {5, 4, 2}}},
      {"...ij,jk", {{3, 5, 2, 4}, {4, 2}}},
      {"i,i", {{4}, {4}}},
      {"i,i->i", {{4}, {4}}},
      {"i,j->ji", {{4}, {3}}},
      {",ij,->ji", {{}, {3, 2}, {}}},
      {"ab,bc,cd->ad", {{2, 3}, {3, 4}, {4, 5}}},
      {"ab,bc,ca", {{2, 3}, {3, 4}, {4, 2}}},
      {"aab,bcc->ac", {{3, 3, 2}, {2, 4, 4}}},
      {"ijk,il->kl", {{2, 3, 4}, {2, 5}}},
      {"ij,jk->i", {{2, 1}, {3, 4}}},
      {"ij,ij,ij->j", {{2, 3}, {1, 3}, {2, 1}}},
      {"ij,jk->ik", {{2, 0}, {0, 3}}},
      {"ij,jk->ik", {{0, 2}, {2, 3}}},
      {"a...b,b...->...a", {{2, 3, 4}, {4, 1}}},
      {"...,...", {{2, 3}, {3}}},
      {"...a->...", {{2, 3}}},
      {"abc->", {{2, 3, 4}}},
  };
  std::mt19937 random(1);
  for (const auto& [equation, shapes] : cases) {
    SCOPED_TRACE(equation);
    std::string text = InputText("unused", {"1"}) + OutputText("y");
    std::vector<std::string> names;
    std::vector<Tensor> operands;
    std::vector<TensorType> types;
    for (const Shape& shape : shapes) {
      // Small whole numbers, so that sums are exact in any order.
      std::vector<float> values(static_cast<std::size_t>(ElementCount(shape)));
      for (float& value : values) value = static_cast<float>(random() % 7) - 3;
      names.emplace_back(1, static_cast<char>('a' + names.size()));
      text += FloatsText(names.back(), values, shape);
      operands.push_back(Tensor::Of<float>(ElementType::kFloat32, shape, values));
      types.push_back(operands.back().type());
    }
    const auto model = ImportText(text + EinsumNode(names, equation));
    ASSERT_TRUE(model.ok()) << ErrorOf(model);
    const Tensor* found = model->graph.ConstantOf(model->graph.outputs[0]);
    ASSERT_NE(found, nullptr);
    const TensorType type{ElementType::kFloat32,
                          kernels::ResolveEinsum(equation, types).OutputShape()};
    const Tensor wanted =
        kernels::RunOnce("Einsum", operands, {type}, {{"equation", equation}}).front();
    EXPECT_EQ(found->type(), wanted.type());
    // Bit by bit they differ where one has -0.
    EXPECT_TRUE(std::ranges::equal(found->as<float>(), wanted.as<float>()));
  }
}

}  // namespace
}  // namespace poprt::frontend
