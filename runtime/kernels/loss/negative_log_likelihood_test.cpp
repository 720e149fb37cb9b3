#include <gtest/gtest.h>

#include <limits>

#include "runtime/kernels/kernel_test_index.hpp"

namespace poprt::kernels {
namespace {

using testing::AnyShape;
using testing::BindError;
using testing::Draw;
using testing::ExpectClose;
using testing::ForSeeds;
using testing::FromValues;
using testing::RandomOperand;
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
    losses.push_back(0);
    if (labels[i] == kIgnored) continue;
    const auto label = static_cast<std::size_t>(labels[i]);
    // A label that names no class has no loss.
    const bool exists = labels[i] >= 0 && label < classes;
    const double weight = !exists ? 0 : weights.empty() ? 1 : weights[label];
    losses.back() = exists ? -x[((i / points) * classes + label) * points + i % points] * weight
                           : std::numeric_limits<double>::quiet_NaN();
    sum += losses.back();
    weight_sum += weight;
  }
  if (reduction == "none") return losses;
  return {reduction == "sum" ? sum : sum / weight_sum};
}

TEST(NegativeLogLikelihoodTest, RandomShapes) {
  constexpr ElementType kFloats[] = {kFloat32, kFloat16, kFloat64, kBFloat16};
  ForSeeds(200, [&](std::mt19937& random) {
    const ElementType type = kFloats[random() % 4];
    const Shape shape = AnyShape(random, 2);
    Shape labels_shape = shape;
    labels_shape.erase(labels_shape.begin() + 1);
    const std::int64_t outside = random() % 8 == 0 ? 1 : 0;
    Values labels(static_cast<std::size_t>(ElementCount(labels_shape)));
    for (double& label : labels) {
      label = static_cast<double>(shape[1] == 0 || random() % 5 == 0
                                      ? kIgnored
                                      : Draw(random, -outside, shape[1] - 1 + outside));
    }
    const Tensor x = RandomOperand(random, type, shape, -4, 0);
    std::vector<Tensor> inputs{
        x, FromValues(random() % 3 == 0 ? kInt32 : kInt64, labels_shape, labels)};
    if (random() % 2 == 0) inputs.push_back(RandomOperand(random, type, {shape[1]}, 0.5, 2));
    const Values weights = inputs.size() > 2 ? ToValues(inputs[2]) : Values();
    for (const std::string reduction : {"none", "sum", "mean"}) {
      SCOPED_TRACE(reduction);
      const Tensor found = Run1("NegativeLogLikelihoodLoss", inputs,
                                {type, reduction == "none" ? labels_shape : Shape()},
                                {{"reduction", reduction}, {"ignore_index", kIgnored}});
      ExpectClose(found, Reference(ToValues(x), labels, weights, shape, reduction), 2, 1);
    }
  });
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
