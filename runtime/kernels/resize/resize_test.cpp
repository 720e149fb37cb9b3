#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "runtime/kernels/kernel_test_index.hpp"
#include "runtime/kernels/resize/resize_shape.hpp"

namespace poprt::kernels::testing {
namespace {

using enum ElementType;

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

struct Tap {
  std::int64_t index;
  double weight;
};

/// One axis by the formulas of the specification.
struct Axis {
  std::int64_t in = 1, out = 1;
  double scale = 1, length = 1;  // of the output, before it is rounded down
  double begin = 0, end = 1;     // of the region of interest

  double Coordinate(const std::string& mode, double o) const {
    const auto extent = static_cast<double>(in);
    if (mode == "asymmetric") return o * extent / length;
    if (mode == "align_corners") return length == 1 ? 0 : o * (extent - 1) / (length - 1);
    if (mode == "pytorch_half_pixel" && out == 1) return 0;
    if (mode == "tf_half_pixel_for_nn") return (o + 0.5) * extent / length;
    if (mode == "tf_crop_and_resize") {
      return length == 1 ? 0.5 * (begin + end) * (extent - 1)
                         : begin * (extent - 1) + o * ((end - begin) * (extent - 1)) / (length - 1);
    }
    const double center = (o + 0.5) * extent / length - 0.5;
    if (mode != "half_pixel_symmetric") return center;
    return 0.5 * (extent - static_cast<double>(out) * extent / length) + center;
  }

  std::int64_t Inside(double at) const {
    return static_cast<std::int64_t>(std::clamp(at, 0.0, static_cast<double>(in - 1)));
  }

  /// The positions around x that have a weight.
  std::vector<Tap> Taps(const std::string& mode, double x, bool exclude, bool antialias) const {
    const double shrink = antialias ? std::min(1.0, scale) : 1.0;
    const auto kernel = [&](double d) {
      d = std::fabs(d);
      if (mode == "linear") return std::max(0.0, 1 - d);
      constexpr double a = -0.75;
      if (d <= 1) return (a + 2) * d * d * d - (a + 3) * d * d + 1;
      return d < 2 ? a * d * d * d - 5 * a * d * d + 8 * a * d - 4 * a : 0.0;
    };
    std::vector<Tap> taps;
    double total = 0;
    const auto reach = static_cast<int>(std::ceil(2 / shrink));
    for (int away = -reach; away <= reach + 1; ++away) {
      const double p = std::floor(x) + away;
      const double weight = kernel((p - x) * shrink);
      if (weight == 0 || (exclude && (p < 0 || p >= static_cast<double>(in)))) continue;
      taps.push_back({Inside(p), weight});
      total += weight;
    }
    for (Tap& tap : taps) tap.weight /= total;
    return taps;
  }

  std::vector<Tap> Nearest(const std::string& rounding, double x) const {
    const double at = rounding == "floor"                ? std::floor(x)
                      : rounding == "ceil"               ? std::ceil(x)
                      : rounding == "round_prefer_floor" ? std::ceil(x - 0.5)
                                                         : std::floor(x + 0.5);
    return {{Inside(at), 1}};
  }
};

TEST(ResizeTest, ResizesAnyRankLikeTheReference) {
  constexpr const char* kModes[] = {"nearest", "linear", "cubic"};
  constexpr const char* kTransformations[] = {
      "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
      "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"};
  constexpr const char* kRoundings[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};
  constexpr ElementType kTypes[] = {kFloat64, kFloat16, kFloat32, kBFloat16};
  ForSeeds(150, [&](std::mt19937& random) {
    const std::string mode = kModes[random() % 3], transformation = kTransformations[random() % 7];
    const std::string rounding = kRoundings[random() % 4];
    const bool exclude = random() % 2 == 0, antialias = random() % 2 == 0;
    const bool by_scales = random() % 2 == 0, crops = transformation == "tf_crop_and_resize";
    const Shape shape = AnyShape(random, 1, 7);
    Shape output = shape;
    std::vector<Axis> axes(shape.size());
    Ints named, sizes;
    Floats scales, roi, roi_end;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      Axis& axis = axes[d];
      axis.in = axis.out = shape[d];
      axis.length = static_cast<double>(shape[d]);
      if (named.size() == 3 || random() % 2 == 0) continue;
      named.push_back(EitherSign(random, d, shape.size()));
      axis.scale = static_cast<double>(Draw(random, 2, 20)) / 8;
      axis.length *= axis.scale;
      axis.out = static_cast<std::int64_t>(axis.length);
      scales.push_back(static_cast<float>(axis.scale));
      sizes.push_back(axis.out);
      if (!by_scales) axis.length = static_cast<double>(axis.out);
      if (!by_scales && axis.in > 0) axis.scale = axis.length / static_cast<double>(axis.in);
      output[d] = axis.out;
      if (!crops) continue;
      axis.begin = static_cast<double>(Draw(random, -2, 8)) / 8;
      axis.end = static_cast<double>(Draw(random, 2, 10)) / 8;
      roi.push_back(static_cast<float>(axis.begin));
      roi_end.push_back(static_cast<float>(axis.end));
    }
    if (named.empty()) return;
    roi.insert(roi.end(), roi_end.begin(), roi_end.end());
    const ElementType type = kTypes[random() % 4];
    const Tensor data = RandomOperand(random, type, shape, -1, 1);
    const Values values = ToValues(data);
    const Values wanted = Fill(output, [&](const Index& at) {
      std::vector<std::vector<Tap>> taps;
      Shape counts;
      for (std::size_t d = 0; d < axes.size(); ++d) {
        const double x = axes[d].Coordinate(transformation, static_cast<double>(at[d]));
        if (crops && !(x >= 0 && x <= static_cast<double>(axes[d].in - 1))) return 7.0;
        taps.push_back(mode == "nearest" ? axes[d].Nearest(rounding, x)
                                         : axes[d].Taps(mode, x, exclude, antialias));
        counts.push_back(static_cast<std::int64_t>(taps.back().size()));
      }
      double sum = 0;
      ForEach(counts, [&](const Index& tap) {
        double weight = 1;
        Index from;
        for (std::size_t d = 0; d < tap.size(); ++d) {
          const Tap& chosen = taps[d][static_cast<std::size_t>(tap[d])];
          weight *= chosen.weight;
          from.push_back(chosen.index);
        }
        sum += weight * values[Flat(shape, from)];
      });
      return sum;
    });
    Attributes attributes{{"axes", named},
                          {"mode", mode},
                          {"nearest_mode", rounding},
                          {"coordinate_transformation_mode", transformation},
                          {"exclude_outside", std::int64_t{exclude}},
                          {"antialias", std::int64_t{antialias}},
                          {"extrapolation_value", 7.0F}};
    if (by_scales) attributes.set("scales", scales);
    if (!by_scales) attributes.set("sizes", sizes);
    if (crops) attributes.set("roi", roi);
    ExpectClose(Run1("Resize", {data}, {type, output}, attributes), wanted,
                mode == "nearest" ? 0 : 16, 1);
  });
}

/// Lines of float32, whose neighbours read windows of any length, as those of float64, which are
/// resized element by element.
TEST(ResizeTest, LinesOfAnyLength) {
  ForSeeds(200, [](std::mt19937& random) {
    const std::vector<std::string> modes{"linear", "cubic"};
    const std::vector<std::string> transformations{"half_pixel", "align_corners", "asymmetric"};
    const Shape shape{3, Draw(random, 1, 70)};
    const Shape output{Draw(random, 1, 5), Draw(random, 1, 90)};
    const Attributes attributes{{"sizes", output},
                                {"mode", modes[random() % 2]},
                                {"coordinate_transformation_mode", transformations[random() % 3]},
                                {"antialias", static_cast<std::int64_t>(random() % 2)}};
    const Tensor data = RandomTensor(random, kFloat32, shape, -1, 1);
    const Tensor wide = FromValues(kFloat64, shape, ToValues(data));
    ExpectClose(Run1("Resize", {data}, {kFloat32, output}, attributes),
                ToValues(Run1("Resize", {wide}, {kFloat64, output}, attributes)), 16, 1);
  });
}

TEST(ResizeTest, AxesThatStayAreNoCombinations) {
  Shape shape(35, 1);
  shape.front() = 2;
  shape.back() = 2;
  Shape output = shape;
  output.front() = 3;
  output.back() = 3;
  const Attributes attributes{{"sizes", Ints(output)},
                              {"mode", Text("linear")},
                              {"coordinate_transformation_mode", Text("align_corners")}};
  EXPECT_EQ(ToValues(Run1("Resize", {FromValues(kFloat32, shape, {0, 2, 4, 8})}, {kFloat32, output},
                          attributes)),
            (Values{0, 1, 2, 2, 3.5, 5, 4, 6, 8}));
}

TEST(ResizeTest, RefusesTooManyCombinations) {
  const Shape shape(40, 2);
  const Shape output(40, 1);
  EXPECT_EQ(BindError("Resize", {{kFloat32, shape}}, {{kFloat32, output}},
                      {{"sizes", Ints(output)}, {"mode", Text("linear")}}),
            "an output line is made of more than 2^31 input lines; resize fewer axes at once");
}

TEST(ResizeTest, InfinityWithoutWeightDoesNotCount) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Attributes attributes{{"sizes", Ints{5}},
                              {"mode", Text("linear")},
                              {"coordinate_transformation_mode", Text("align_corners")}};
  for (const ElementType type : {kFloat32, kFloat64}) {
    EXPECT_EQ(ToValues(Run1("Resize", {FromValues(type, {3}, {1, kInfinity, 3})}, {type, {5}},
                            attributes)),
              (Values{1, kInfinity, kInfinity, kInfinity, 3}));
  }
}

TEST(ResizeTest, WholePositionsComeOutWhole) {
  const auto nearest = [](const Shape& input, const Shape& output, const char* transformation,
                          const char* rounding, Attributes attributes) {
    attributes.set("coordinate_transformation_mode", Text(transformation));
    attributes.set("nearest_mode", Text(rounding));
    return ToValues(Run1("Resize", {FromValues(kFloat32, input, Count(ElementCount(input)))},
                         {kFloat32, output}, attributes));
  };
  // The scales are rounded; divided by them, the positions would be 3 + 4e-16 and 7 - 9e-16.
  EXPECT_EQ(nearest({7}, {17}, "half_pixel", "ceil", {{"sizes", Ints{17}}})[8], 4);
  EXPECT_EQ(nearest({14}, {18}, "asymmetric", "floor", {{"sizes", Ints{18}}})[9], 8);
  // So are these, but given as floats: positions 3 and 3, where doubles say a little less.
  EXPECT_EQ(nearest({9}, {12}, "asymmetric", "floor", {{"scales", Floats{4.0F / 3}}})[4], 4);
  EXPECT_EQ(nearest({7}, {3}, "pytorch_half_pixel", "floor", {{"scales", Floats{3.0F / 7}}})[1], 4);
  // Half of 5 is 2 rows around the middle: positions 1 and 3.
  EXPECT_EQ(nearest({5}, {2}, "half_pixel_symmetric", "floor", {{"scales", Floats{0.5F}}}),
            (Values{2, 4}));
}

TEST(ResizeTest, OneElementIsTheFirstWherePytorchsHalfPixelsAreMeant) {
  const Tensor data = FromValues(kFloat32, {3}, {1, 2, 4});
  EXPECT_EQ(ToValues(Run1("Resize", {data}, {kFloat32, {1}},
                          {{"scales", Floats{0.5F}},
                           {"mode", Text("linear")},
                           {"coordinate_transformation_mode", Text("pytorch_half_pixel")}})),
            (Values{1}));
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
}  // namespace poprt::kernels::testing
