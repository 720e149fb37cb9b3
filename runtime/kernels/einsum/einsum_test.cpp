#include <gtest/gtest.h>

#include <cmath>

#include "runtime/kernels/einsum/einsum_equation.hpp"
#include "runtime/kernels/kernel_test_index.hpp"

namespace poprt::kernels {
namespace {

using testing::BindError;
using testing::Draw;
using testing::ExpectClose;
using testing::Flat;
using testing::ForEach;
using testing::ForSeeds;
using testing::FromValues;
using testing::Index;
using testing::RandomOperand;
using testing::Run1;
using testing::ToValues;
using testing::Values;
using enum ElementType;

Attributes Equation(const std::string& equation) { return {{"equation", equation}}; }

std::string Error(const std::string& equation, const std::vector<TensorType>& operands) {
  try {
    ResolveEinsum(equation, operands);
  } catch (const KernelError& error) {
    return error.what();
  }
  return "";
}

Shape OutputOf(const std::string& equation, const std::vector<Shape>& shapes) {
  std::vector<TensorType> operands;
  operands.reserve(shapes.size());
  for (const Shape& shape : shapes) operands.push_back({kFloat32, shape});
  return ResolveEinsum(equation, operands).OutputShape();
}

TEST(EinsumTest, ReadsEquations) {
  EXPECT_EQ(OutputOf("ij,jk->ik", {{2, 3}, {3, 4}}), (Shape{2, 4}));
  EXPECT_EQ(OutputOf(" i j , j k ", {{2, 3}, {3, 4}}), (Shape{2, 4}));
  EXPECT_EQ(OutputOf("ba", {{2, 3}}), (Shape{3, 2}));
  EXPECT_EQ(OutputOf("bA", {{2, 3}}), (Shape{3, 2}));  // capitals come first
  EXPECT_EQ(OutputOf("ij->", {{2, 3}}), Shape());
  EXPECT_EQ(OutputOf(",i->i", {{}, {3}}), (Shape{3}));
  EXPECT_EQ(OutputOf("", {{}}), Shape());
  EXPECT_EQ(OutputOf("ii", {{3, 3}}), Shape());
  EXPECT_EQ(OutputOf("...ii->...i", {{2, 3, 3}}), (Shape{2, 3}));
  EXPECT_EQ(OutputOf("i...", {{2, 3, 4}}), (Shape{3, 4, 2}));
  EXPECT_EQ(OutputOf("...ij,...jk->...ik", {{5, 1, 2, 3}, {4, 3, 6}}), (Shape{5, 4, 2, 6}));
  EXPECT_EQ(OutputOf("...i->i", {{2, 4, 3}}), (Shape{3}));
  EXPECT_EQ(OutputOf("i,i", {{1}, {4}}), Shape());
  EXPECT_EQ(OutputOf("...->...", {{}}), Shape());
}

TEST(EinsumTest, ErrorsShowEquationAndPosition) {
  const TensorType matrix{kFloat32, {2, 3}};
  EXPECT_EQ(Error("ij->k", {matrix}),
            "attribute 'equation' is \"ij->k\": at position 4, 'k' is in no operand");
  EXPECT_EQ(Error("ij->ii", {matrix}),
            "attribute 'equation' is \"ij->ii\": at position 5, 'i' is in the result twice");
  EXPECT_EQ(Error("i,j", {matrix}), "attribute 'equation' has 2 terms for 1 operands");
  EXPECT_EQ(Error("ijk", {matrix}),
            "attribute 'equation' is \"ijk\": at position 0, the term of operand 0 names 3 axes of "
            "float32[2, 3]");
  EXPECT_EQ(Error("i", {matrix}),
            "attribute 'equation' is \"i\": at position 0, the term of operand 0 names 1 axes of "
            "float32[2, 3]");
  EXPECT_EQ(Error("ij,jk", {matrix, matrix}),
            "attribute 'equation' is \"ij,jk\": at position 3, axis 0 of operand 1, "
            "float32[2, 3], must have the extent 3");
  EXPECT_EQ(Error("ii", {matrix}),
            "attribute 'equation' is \"ii\": at position 1, axis 1 of operand 0, float32[2, 3], "
            "must have the extent 2");
  EXPECT_EQ(Error("i..j", {matrix}).substr(0, 66),
            "attribute 'equation' is \"i..j\": at position 1, '.' is not expected");
  EXPECT_EQ(Error("......", {matrix}),
            "attribute 'equation' is \"......\": at position 3, a term has a second ellipsis");
  EXPECT_EQ(Error("ij->i->j", {matrix}).substr(0, 70),
            "attribute 'equation' is \"ij->i->j\": at position 5, '-' is not expected");
  EXPECT_EQ(Error("ij->i,j", {matrix}).substr(0, 69),
            "attribute 'equation' is \"ij->i,j\": at position 5, ',' is not expected");
  EXPECT_EQ(Error("i-j", {matrix}).substr(0, 65),
            "attribute 'equation' is \"i-j\": at position 1, '-' is not expected");
  const std::string many(5000, 'a');
  EXPECT_LT(Error(many, {matrix}).size(), 400U);
  EXPECT_EQ(Error("...", {{kFloat32, Shape(70, 1)}}),
            "attribute 'equation' has more than 60 different axes");
}

TEST(EinsumTest, WritesEquations) {
  const std::vector<std::size_t> input{7, 3, 7};
  const std::vector<std::size_t> output{3, 7};
  EXPECT_EQ(EinsumText(input, output), "aba->ba");
}

/// Letters of random terms over extents that fit, and a random result.
struct Case {
  std::string equation;
  std::vector<Tensor> operands;
  EinsumEquation resolved;
};

Case RandomCase(std::mt19937& random) {
  constexpr ElementType kElements[] = {kFloat32,  kFloat64, kFloat16, kInt32,
                                       kBFloat16, kUint8,   kInt64};
  const ElementType element = kElements[random() % 7];
  const Shape extents{2, 3, 4, random() % 8 == 0 ? 0 : 5};
  const bool ellipsis = random() % 3 == 0;
  Case test;
  std::string used;
  const std::size_t operands = 1 + random() % 3;
  for (std::size_t i = 0; i < operands; ++i) {
    std::string term;
    Shape shape;
    for (std::size_t k = random() % (operands == 1 ? 8 : 4); k > 0; --k) {
      const std::size_t label = random() % extents.size();
      const auto letter = static_cast<char>((random() % 16 == 0 ? 'A' : 'a') + label);
      // An axis of one element is repeated; those of a diagonal are equal.
      const std::size_t first = term.find(letter);
      const std::int64_t extent = random() % 8 == 0 ? 1 : extents[label];
      shape.push_back(first == std::string::npos ? extent : shape[first]);
      term += letter;
      used += letter;
    }
    if (ellipsis && random() % 2 == 0) {
      const auto at = static_cast<std::size_t>(random() % (term.size() + 1));
      const Shape repeated = random() % 2 == 0 ? Shape{2, 1} : Shape{3};
      term.insert(at, "...");
      shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(at), repeated.begin(),
                   repeated.end());
    }
    test.equation += (i > 0 ? "," : "") + term;
    const double low = element == kUint8 ? 0 : -4;
    test.operands.push_back(RandomOperand(random, element, shape, low, 4));
  }
  if (random() % 3 > 0) {
    test.equation += "->";
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    std::shuffle(used.begin(), used.end(), random);
    test.equation += used.substr(0, random() % (used.size() + 1));
    if (random() % 2 == 0) test.equation += "...";
  }
  std::vector<TensorType> types;
  for (const Tensor& operand : test.operands) types.push_back(operand.type());
  test.resolved = ResolveEinsum(test.equation, types);
  return test;
}

/// The sum over all positions of all axes.
Values Reference(const Case& test) {
  const Shape output = test.resolved.OutputShape();
  Values sums(static_cast<std::size_t>(ElementCount(output)), 0.0);
  std::vector<Values> values;
  for (const Tensor& operand : test.operands) values.push_back(ToValues(operand));
  ForEach(test.resolved.extents, [&](const Index& at) {
    double product = 1;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Shape& shape = test.operands[i].shape();
      Index position;
      for (std::size_t k = 0; k < shape.size(); ++k) {
        position.push_back(shape[k] == 1 ? 0 : at[test.resolved.inputs[i][k]]);
      }
      product *= values[i][Flat(shape, position)];
    }
    Index position;
    for (const std::size_t label : test.resolved.output) position.push_back(at[label]);
    sums[Flat(output, position)] += product;
  });
  return sums;
}

TEST(EinsumTest, SumsProductsOfRandomTerms) {
  ForSeeds(500, [](std::mt19937& random) {
    const Case test = RandomCase(random);
    SCOPED_TRACE(test.equation);
    const ElementType element = test.operands[0].element();
    const Tensor found = Run1("Einsum", test.operands, {element, test.resolved.OutputShape()},
                              Equation(test.equation));
    Values wanted = Reference(test);
    if (element == kUint8) {
      for (double& value : wanted) value = static_cast<std::uint8_t>(static_cast<long>(value));
    }
    ExpectClose(found, wanted, 2, 100);
  });
}

TEST(EinsumTest, DiagonalsKeepTheSignOfZero) {
  const Tensor square = FromValues(kFloat32, {2, 2}, {-0.0, 1, 2, 3});
  const Values found = ToValues(Run1("Einsum", {square}, {kFloat32, {2}}, Equation("ii->i")));
  EXPECT_EQ(found, (Values{0, 3}));
  EXPECT_TRUE(std::signbit(found[0]));
}

TEST(EinsumTest, RefusesOperandsOfDifferentTypes) {
  EXPECT_EQ(
      BindError("Einsum", {{kFloat32, {2}}, {kInt32, {2}}}, {{kFloat32, {}}}, Equation("i,i")),
      "the element type of input 1 is int32[], expected float32[]");
  EXPECT_EQ(BindError("Einsum", {{kFloat32, {2}}}, {{kFloat32, {3}}}, Equation("i")),
            "output 0 is float32[3], expected float32[2]");
}

}  // namespace
}  // namespace poprt::kernels
