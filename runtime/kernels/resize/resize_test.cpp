#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "runtime/kernels/kernel_test_index.hpp"
#include "runtime/kernels/resize/resize_shape.hpp"

namespace poprt::kernels {
namespace {

using testing::BindError;
using testing::Draw;
using testing::ExpectClose;
using testing::Fill;
using testing::Flat;
using testing::ForEach;
using testing::FromValues;
using testing::Index;
using testing::RandomTensor;
using testing::Run1;
using testing::ToValues;
using testing::Values;
using enum ElementType;

constexpr unsigned kSeed = 515;

std::string Text(const char* text) { return text; }

Values Count(std::int64_t n) {
  Values values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 1);
  return values;
}

TEST(ResizeTest, KnownValuesOfTheSpecification) {
  struct Case {
    Shape input;
    Attributes attributes;
    Shape output;
    Values values;
  };
  const std::vector<Case> cases{
      {{1, 1, 2, 2}, {{"scales", Floats{1, 1, 2, 3}}}, {1, 1, 4, 6}, {1, 1, 1, 2, 2, 2, 1, 1,
                                                                      1, 2, 2, 2, 3, 3, 3, 4,
                                                                      4, 4, 3, 3, 3, 4, 4, 4}},
      {{2, 4},
       {{"scales", Floats{0.6F, 0.6F}}, {"mode", Text("linear")}},
       {1, 2},
       {2.6666665, 4.3333331}},
      {{2, 4},
       {{"scales", Floats{0.6F, 0.6F}},
        {"mode", Text("linear")},
        {"coordinate_transformation_mode", Text("align_corners")}},
       {1, 2},
       {1.0, 3.142857}},
      {{1, 4},
       {{"sizes", Ints{1, 3}},
        {"mode", Text("cubic")},
        {"exclude_outside", std::int64_t{1}},
        {"cubic_coeff_a", -0.5F}},
       {1, 3},
       {1.1028446, 2.5, 3.8971554}},
      {{4, 4},
       {{"sizes", Ints{3, 3}},
        {"mode", Text("linear")},
        {"roi", Floats{0.4F, 0.6F, 0.6F, 0.8F}},
        {"coordinate_transformation_mode", Text("tf_crop_and_resize")}},
       {3, 3},
       {7.6000004, 7.9, 8.2, 8.8, 9.1, 9.4, 10, 10.3, 10.6}},
      {{1, 3},
       {{"sizes", Ints{1, 2}},
        {"roi", Floats{0, 0, 1, 1.2F}},
        {"extrapolation_value", 10.0F},
        {"coordinate_transformation_mode", Text("tf_crop_and_resize")}},
       {1, 2},
       {1, 10}},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(i);
    const Case& c = cases[i];
    const Tensor data = FromValues(kFloat32, c.input, Count(ElementCount(c.input)));
    EXPECT_EQ(ResolveResize(c.attributes, c.input).output, c.output);
    ExpectClose(Run1("Resize", {data}, {kFloat32, c.output}, c.attributes), c.values, 8);
  }
}

/// The weights of all input positions for one output position, by the sums of the specification.
Values DenseWeights(const std::string& mode, double x, double scale, std::int64_t in, bool exclude,
                    bool antialias) {
  const double shrink = antialias ? std::min(1.0, scale) : 1.0;
  const auto kernel = [&](double d) {
    d = std::fabs(d);
    if (mode == "linear") return std::max(0.0, 1 - d);
    constexpr double a = -0.75;
    if (d <= 1) return (a + 2) * d * d * d - (a + 3) * d * d + 1;
    return d < 2 ? a * d * d * d - 5 * a * d * d + 8 * a * d - 4 * a : 0.0;
  };
  Values weights(static_cast<std::size_t>(in), 0.0);
  double total = 0;
  for (std::int64_t p = -200; p < in + 200; ++p) {
    const double weight = kernel((static_cast<double>(p) - x) * shrink);
    if (exclude && (p < 0 || p >= in)) continue;
    weights[static_cast<std::size_t>(std::clamp<std::int64_t>(p, 0, in - 1))] += weight;
    total += weight;
  }
  for (double& weight : weights) weight /= total;
  return weights;
}

double Coordinate(const std::string& mode, double o, double scale, double in, double out) {
  if (mode == "asymmetric") return o / scale;
  if (mode == "align_corners") return out == 1 ? 0 : o * (in - 1) / (out - 1);
  if (mode == "pytorch_half_pixel" && out == 1) return 0;
  if (mode == "tf_half_pixel_for_nn") return (o + 0.5) / scale;
  return (o + 0.5) / scale - 0.5;
}

TEST(ResizeTest, ResizesAnyRankLikeTheReference) {
  const char* modes[] = {"nearest", "linear", "cubic"};
  const char* transformations[] = {"half_pixel",    "half_pixel_symmetric", "pytorch_half_pixel",
                                   "align_corners", "asymmetric",           "tf_half_pixel_for_nn"};
  const char* nearest_modes[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};
  for (unsigned i = 0; i < 150; ++i) {
    std::mt19937 random(kSeed + i);
    SCOPED_TRACE("seed " + std::to_string(kSeed) + " + " + std::to_string(i));
    const std::string mode = modes[random() % 3];
    const std::string transformation = transformations[random() % 6];
    const std::string nearest = nearest_modes[random() % 4];
    const bool exclude = random() % 2 == 0;
    const bool antialias = random() % 2 == 0;
    Shape shape(1 + random() % 4), output;
    for (auto& extent : shape) {
      extent = Draw(random, 1, 6);
      output.push_back(random() % 3 == 0 ? extent : Draw(random, 1, 9));
    }
    const ElementType type = i % 3 == 0 ? kFloat64 : i % 3 == 1 ? kFloat16 : kFloat32;
    const Tensor data = RandomTensor(random, type, shape, -1, 1);
    const Values values = ToValues(data);
    std::vector<std::map<std::int64_t, Values>> weights(shape.size());
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      const auto in = static_cast<double>(shape[axis]), out = static_cast<double>(output[axis]);
      const double scale = out / in;
      for (std::int64_t o = 0; o < output[axis]; ++o) {
        const double x = Coordinate(transformation, static_cast<double>(o), scale, in, out);
        if (mode != "nearest") {
          weights[axis][o] = DenseWeights(mode, x, scale, shape[axis], exclude, antialias);
          continue;
        }
        const double at = nearest == "floor"                ? std::floor(x)
                          : nearest == "ceil"               ? std::ceil(x)
                          : nearest == "round_prefer_floor" ? std::ceil(x - 0.5)
                                                            : std::floor(x + 0.5);
        weights[axis][o].assign(static_cast<std::size_t>(shape[axis]), 0.0);
        weights[axis][o][static_cast<std::size_t>(std::clamp(at, 0.0, in - 1))] = 1;
      }
    }
    const Values wanted = Fill(output, [&](const Index& at) {
      double sum = 0;
      ForEach(shape, [&](const Index& from) {
        double weight = 1;
        for (std::size_t axis = 0; axis < shape.size(); ++axis) {
          weight *= weights[axis][at[axis]][static_cast<std::size_t>(from[axis])];
        }
        sum += weight * values[Flat(shape, from)];
      });
      return sum;
    });
    const Tensor found = Run1("Resize", {data}, {type, output},
                              {{"sizes", Ints(output)},
                               {"mode", mode},
                               {"nearest_mode", nearest},
                               {"coordinate_transformation_mode", transformation},
                               {"exclude_outside", std::int64_t{exclude}},
                               {"antialias", std::int64_t{antialias}}});
    ExpectClose(found, wanted, mode == "nearest" ? 0 : 16, 1);
    if (HasFailure()) return;
  }
}

TEST(ResizeTest, RoundsAndSaturatesIntegers) {
  const Tensor data = FromValues(kUint8, {2}, {0, 255});
  EXPECT_EQ(ToValues(Run1("Resize", {data}, {kUint8, {4}},
                          {{"scales", Floats{2}}, {"mode", Text("linear")}})),
            (Values{0, 64, 191, 255}));
  EXPECT_EQ(ToValues(Run1("Resize", {data}, {kUint8, {8}},
                          {{"scales", Floats{4}}, {"mode", Text("cubic")}}))[0],
            0);
}

TEST(ResizeShapeTest, FollowsTheAspectRatioPolicy) {
  const auto extents = [](const char* policy, const Ints& sizes) {
    return ResolveResize(
               {{"sizes", sizes}, {"axes", Ints{2, 3}}, {"keep_aspect_ratio_policy", Text(policy)}},
               {1, 1, 3, 4})
        .output;
  };
  EXPECT_EQ(extents("stretch", {7, 8}), (Shape{1, 1, 7, 8}));
  EXPECT_EQ(extents("not_larger", {7, 8}), (Shape{1, 1, 6, 8}));
  EXPECT_EQ(extents("not_smaller", {7, 8}), (Shape{1, 1, 7, 9}));
  EXPECT_EQ(ResolveResize({{"scales", Floats{2.1F}}}, {10}).output, (Shape{21}));
}

TEST(ResizeShapeTest, RefusesNonsense) {
  const std::vector<TensorType> data{{kFloat32, {4}}};
  const std::vector<TensorType> out{{kFloat32, {8}}};
  EXPECT_EQ(BindError("Resize", data, out, {}),
            "exactly one of the attributes 'scales' and 'sizes' must be given");
  EXPECT_EQ(BindError("Resize", data, out, {{"scales", Floats{-1}}}),
            "attribute 'scales' holds -1.000000, allowed are finite numbers > 0");
  EXPECT_EQ(BindError("Resize", data, out, {{"scales", Floats{1e30F}}}),
            "the resized extent of axis 0 is too large");
  EXPECT_EQ(BindError("Resize", data, out, {{"sizes", Ints{8, 8}}}),
            "attribute 'sizes' has 2 numbers, expected 1");
  EXPECT_EQ(BindError("Resize", data, out, {{"sizes", Ints{9}}}),
            "output 0 is float32[8], expected float32[9]");
  EXPECT_EQ(BindError("Resize", data, out, {{"sizes", Ints{8}}, {"mode", Text("area")}}),
            "attribute 'mode' is \"area\", allowed are nearest, linear, cubic");
  EXPECT_EQ(BindError("Resize", {{kFloat32, {0}}}, out, {{"sizes", Ints{8}}}),
            "axis 0 has no elements to resize");
}

}  // namespace
}  // namespace poprt::kernels
