#include <gtest/gtest.h>

#include <limits>

#include "runtime/kernels/kernel_test_tensors.hpp"

namespace poprt::kernels {
namespace {

using testing::BindError;
using testing::ExpectClose;
using testing::FromValues;
using testing::RandomTensor;
using testing::Run1;
using testing::ToValues;
using testing::Values;
using enum ElementType;

constexpr std::int64_t kIgnored = -7;

/// As the specification says it, one label after the other.
Values Reference(const Values& x, const Values& labels, const Values& weights, const Shape& shape,
                 const std::string& reduction) {
  const auto classes = static_cast<std::size_t>(shape[1]);
  const std::size_t points =
      labels.empty() ? 1 : labels.size() / static_cast<std::size_t>(shape[0]);
  Values losses;
  double sum = 0;
  double weight_sum = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const bool ignored = labels[i] == kIgnored;
    const auto label = ignored ? 0 : static_cast<std::size_t>(labels[i]);
    const double weight = ignored ? 0 : weights.empty() ? 1 : weights[label];
    losses.push_back(-x[((i / points) * classes + label) * points + i % points] * weight);
    sum += losses.back();
    weight_sum += weight;
  }
  if (reduction == "none") return losses;
  return {reduction == "sum" ? sum : sum / weight_sum};
}

TEST(NegativeLogLikelihoodTest, RandomShapes) {
  const std::vector<ElementType> floats{kFloat32, kFloat16, kFloat64, kBFloat16};
  for (unsigned seed = 0; seed < 96; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const ElementType type = floats[seed % 4];
    Shape shape(2);
    shape[0] = 1 + random() % 5;
    shape[1] = 1 + random() % 6;
    for (unsigned i = 0; i < seed % 4; ++i) shape.push_back(1 + random() % 4);
    if (seed % 16 == 7 && shape.size() > 2) shape.back() = 0;
    Shape labels_shape = shape;
    labels_shape.erase(labels_shape.begin() + 1);
    Values labels;
    for (std::int64_t i = 0; i < ElementCount(labels_shape); ++i) {
      const auto label = static_cast<double>(random() % static_cast<unsigned>(shape[1]));
      labels.push_back(random() % 5 == 0 ? static_cast<double>(kIgnored) : label);
    }
    const Tensor x = RandomTensor(random, type, shape, -4, 0);
    std::vector<Tensor> inputs{x,
                               FromValues(seed % 3 == 0 ? kInt32 : kInt64, labels_shape, labels)};
    const bool weighted = random() % 2 == 0;
    if (weighted) inputs.push_back(RandomTensor(random, type, {shape[1]}, 0.5, 2));
    for (const char* reduction : {"none", "sum", "mean"}) {
      SCOPED_TRACE(reduction);
      const bool is_none = std::string_view(reduction) == "none";
      const Tensor found =
          Run1("NegativeLogLikelihoodLoss", inputs, {type, is_none ? labels_shape : Shape()},
               {{"reduction", std::string(reduction)}, {"ignore_index", kIgnored}});
      ExpectClose(found,
                  Reference(ToValues(x), labels, weighted ? ToValues(inputs[2]) : Values(), shape,
                            reduction),
                  2, 1);
    }
  }
}

TEST(NegativeLogLikelihoodTest, LabelsOutsideGiveNan) {
  const Tensor x = FromValues(kFloat32, {3, 2}, {-1, -2, -3, -4, -5, -6});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor found = Run1("NegativeLogLikelihoodLoss", {x, FromValues(kInt64, {3}, {1, 2, -1})},
                            {kFloat32, {3}}, {{"reduction", std::string("none")}});
  ExpectClose(found, {2, nan, nan}, 1);
}

TEST(NegativeLogLikelihoodTest, ChecksOperands) {
  const std::string name = "NegativeLogLikelihoodLoss";
  const TensorType x{kFloat32, {2, 3, 4}};
  EXPECT_EQ(BindError(name, {x, {kInt64, {2, 4}}}, {{kFloat32, {}}}), "");
  EXPECT_NE(BindError(name, {x, {kInt64, {2, 3}}}, {{kFloat32, {}}}), "");
  EXPECT_NE(BindError(name, {x, {kFloat32, {2, 4}}}, {{kFloat32, {}}}), "");
  EXPECT_NE(BindError(name, {x, {kInt64, {2, 4}}, {kFloat32, {4}}}, {{kFloat32, {}}}), "");
  EXPECT_NE(BindError(name, {x, {kInt64, {2, 4}}}, {{kFloat32, {2}}}), "");
  EXPECT_NE(
      BindError(name, {x, {kInt64, {2, 4}}}, {{kFloat32, {}}}, {{"reduction", std::string("max")}}),
      "");
}

}  // namespace
}  // namespace poprt::kernels
