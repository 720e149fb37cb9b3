#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/kernels/quantized/quantized_test_tensors.hpp"

namespace poprt::kernels {
namespace {

using testing::AnyShape;
using testing::BindError;
using testing::Draw;
using testing::EitherSign;
using testing::Flat;
using testing::ForEach;
using testing::ForSeeds;
using testing::Index;
using testing::RandomOperand;
using testing::RandomSpecials;
using testing::Run1;
using testing::Values;
using testing::quantized::ExpectSame;
using testing::quantized::FromValues;
using testing::quantized::Pick;
using testing::quantized::Positive;
using testing::quantized::RandomCodes;
using testing::quantized::RoundEven;
using testing::quantized::RoundTo;
using testing::quantized::ToValues;
using enum ElementType;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// One of everything that is quantised to.
ElementType QuantizedType(std::mt19937& random) {
  return Pick<ElementType>(
      random, {kInt8, kUint8, kInt16, kUint16, kInt4, kUint4, kInt2, kUint2, kFloat8E4M3FN,
               kFloat8E4M3FNUZ, kFloat8E5M2, kFloat8E5M2FNUZ, kFloat4E2M1});
}

/// A random grid of scales for a random shape.
struct Grid {
  Shape shape;
  Shape scales;
  std::size_t axis = 0;
  std::int64_t block = 0;  // 0: per axis or one scale
  bool is_uniform = true;
  Attributes attributes;

  std::size_t ScaleOf(Index at) const {
    if (is_uniform) return 0;
    if (block == 0) return static_cast<std::size_t>(at[axis]);
    at[axis] /= block;
    return Flat(scales, at);
  }
};

Grid RandomGrid(std::mt19937& random) {
  Grid grid;
  grid.shape = AnyShape(random);
  if (grid.shape.empty() || random() % 3 == 0) {
    grid.scales = random() % 2 == 0 ? Shape{} : Shape{1};
    return grid;
  }
  grid.is_uniform = false;
  grid.axis = random() % grid.shape.size();
  grid.attributes.set("axis", EitherSign(random, grid.axis, grid.shape.size()));
  const std::int64_t extent = grid.shape[grid.axis];
  if (random() % 2 == 0) {
    grid.scales = {extent};
  } else {
    grid.block = Draw(random, 1, 5);
    grid.attributes.set("block_size", grid.block);
    grid.scales = grid.shape;
    grid.scales[grid.axis] = (extent + grid.block - 1) / grid.block;
  }
  return grid;
}

TEST(QuantizeLinearTest, MatchesTheFormula) {
  ForSeeds(400, [](std::mt19937& random) {
    const Grid grid = RandomGrid(random);
    const auto from = Pick<ElementType>(random, {kFloat32, kFloat16, kBFloat16, kInt32});
    const auto scale_type =
        Pick<ElementType>(random, {kFloat32, kFloat16, kBFloat16, kInt32, kFloat8E8M0});
    const ElementType to = QuantizedType(random);
    const bool is_integer = Contains(kQuantizedIntegers, to);
    const double most = random() % 2 == 0 ? 60 : 1e6;
    const Tensor x = RandomOperand(random, from, grid.shape, -most, most);
    const bool special_scales = IsFloat(scale_type) && random() % 4 == 0;
    const Tensor scale = special_scales ? RandomSpecials(random, scale_type, grid.scales, 0, 1)
                                        : Positive(random, scale_type, grid.scales);
    const Tensor point = RandomCodes(random, to, grid.scales);
    const bool has_point = random() % 2 == 0;
    const std::int64_t saturate = random() % 2;
    const auto precision = Pick<ElementType>(random, {kUndefined, kFloat32, kFloat16, kFloat64});
    Attributes attributes = grid.attributes;
    attributes.set("saturate", saturate);
    if (precision != kUndefined) attributes.set("precision", static_cast<std::int64_t>(precision));
    const ElementType divide = precision != kUndefined     ? precision
                               : scale_type == kInt32      ? kFloat64
                               : scale_type == kFloat8E8M0 ? kFloat32
                                                           : scale_type;

    const auto rounded = [&](const Tensor& t) {
      return ToValues(FromValues(divide, t.shape(), ToValues(t)));
    };
    const Values xs = rounded(x);
    const Values scales = rounded(scale);
    const Values points = has_point ? ToValues(point) : Values(scales.size());
    Values quotients, places;
    std::size_t i = 0;
    ForEach(grid.shape, [&](const Index& at) {
      const std::size_t k = grid.ScaleOf(at);
      quotients.push_back(xs[i++] / scales[k]);
      places.push_back(points[k]);
    });
    Values wanted = ToValues(FromValues(divide, grid.shape, quotients));
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      if (!is_integer) {
        const bool adds_zeros = to == kFloat4E2M1 && has_point;
        if (adds_zeros || places[k] != 0) wanted[k] += places[k];
        continue;
      }
      const auto [lowest, highest] = RangeOf(to);
      const double value = RoundEven(wanted[k]) + places[k];
      wanted[k] = std::isnan(value) ? lowest : std::clamp<double>(value, lowest, highest);
    }
    if (!is_integer) {
      const ElementType sums = divide == kFloat64 ? kFloat64 : kFloat32;
      wanted = ToValues(Run1("Cast", {FromValues(sums, grid.shape, wanted)}, {to, grid.shape},
                             {{"saturate", saturate}}));
    }
    std::vector<Tensor> inputs{x, scale};
    if (has_point) inputs.push_back(point);
    ExpectSame(Run1("QuantizeLinear", inputs, {to, grid.shape}, attributes), wanted);
  });
}

TEST(QuantizeLinearTest, TiesGoToEven) {
  const Tensor x = FromValues(kFloat32, {8}, {0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 254.5, 255.5});
  const Tensor one = FromValues(kFloat32, {}, {1});
  EXPECT_EQ(ToValues(Run1("QuantizeLinear", {x, one}, {kUint8, {8}})),
            (Values{0, 2, 2, 0, 0, 0, 254, 255}));
  const Tensor point = FromValues(kInt8, {}, {1});
  EXPECT_EQ(ToValues(Run1("QuantizeLinear", {x, one, point}, {kInt8, {8}})),
            (Values{1, 3, 3, 1, -1, -1, 127, 127}));
}

TEST(QuantizeLinearTest, InfinitiesSaturateAndNanIsTheLowest) {
  const Tensor x = FromValues(kFloat32, {4}, {kInf, -kInf, 1e30, kNan});
  const Tensor scale = FromValues(kFloat32, {1}, {0.01});
  const Tensor point = FromValues(kInt8, {1}, {3});
  EXPECT_EQ(ToValues(Run1("QuantizeLinear", {x, scale, point}, {kInt8, {4}})),
            (Values{127, -128, 127, -128}));
}

TEST(QuantizeLinearTest, IntegerScalesDivideExactly) {
  const Tensor x = FromValues(kInt32, {5}, {2147483647, 16777217, -15, 15, 9});
  const Tensor scale = FromValues(kInt32, {}, {6});
  EXPECT_EQ(ToValues(Run1("QuantizeLinear", {x, scale}, {kInt16, {5}})),
            (Values{32767, 32767, -2, 2, 2}));
}

TEST(QuantizeLinearTest, FloatsAreRoundedAndSaturateOnRequest) {
  const Tensor x = FromValues(kFloat32, {5}, {0, 1, 2, 1e6, -1e6});
  const Tensor scale = FromValues(kFloat32, {}, {2});
  const Tensor point = FromValues(kFloat8E4M3FN, {}, {0});
  EXPECT_EQ(ToValues(Run1("QuantizeLinear", {x, scale, point}, {kFloat8E4M3FN, {5}})),
            (Values{0, 0.5, 1, 448, -448}));
  const Values special = ToValues(Run1("QuantizeLinear", {x, scale, point}, {kFloat8E4M3FN, {5}},
                                       {{"saturate", std::int64_t{0}}}));
  EXPECT_TRUE(std::isnan(special[3]));
  EXPECT_TRUE(std::isnan(special[4]));
  EXPECT_EQ(ToValues(Run1("QuantizeLinear", {x, scale}, {kFloat4E2M1, {5}})),
            (Values{0, 0.5, 1, 6, -6}));
}

TEST(QuantizeLinearTest, ZeroPointsOfFourBitsLoseTheSignOfZeros) {
  const Tensor x = FromValues(kFloat32, {2}, {-0.0, -1e-30});
  const Tensor scale = FromValues(kFloat32, {}, {1});
  const auto signs = [&](ElementType to, bool has_point) {
    std::vector<Tensor> inputs{x, scale};
    if (has_point) inputs.push_back(FromValues(to, {}, {0}));
    const Values zeros = ToValues(Run1("QuantizeLinear", inputs, {to, {2}}));
    EXPECT_EQ(zeros, (Values{0, 0}));
    return std::vector{std::signbit(zeros[0]), std::signbit(zeros[1])};
  };
  EXPECT_EQ(signs(kFloat4E2M1, true), (std::vector{false, true}));
  EXPECT_EQ(signs(kFloat4E2M1, false), (std::vector{true, true}));
  EXPECT_EQ(signs(kFloat8E4M3FN, true), (std::vector{true, true}));
}

TEST(QuantizeLinearTest, PowersOfTwoAsScales) {
  const Tensor x = FromValues(kFloat32, {3}, {1, 10, -3});
  const Tensor scale = FromValues(kFloat8E8M0, {}, {0.5});
  EXPECT_EQ(ToValues(Run1("QuantizeLinear", {x, scale}, {kInt8, {3}})), (Values{2, 20, -6}));
}

TEST(DequantizeLinearTest, MatchesTheFormula) {
  ForSeeds(400, [](std::mt19937& random) {
    const Grid grid = RandomGrid(random);
    const ElementType from = random() % 8 == 0 ? kInt32 : QuantizedType(random);
    const auto scale_type = Pick<ElementType>(random, {kFloat32, kFloat16, kBFloat16, kFloat8E8M0});
    const auto to = Pick<ElementType>(random, {kFloat32, kFloat16, kBFloat16});
    const auto codes = [&](const Shape& shape) {
      return from == kInt32 ? testing::RandomTensor(random, from, shape, -1e9, 1e9)
                            : RandomCodes(random, from, shape);
    };
    const Tensor x = codes(grid.shape);
    const bool special_scales = IsFloat(scale_type) && random() % 4 == 0;
    const Tensor scale = special_scales ? RandomSpecials(random, scale_type, grid.scales, -1, 1)
                                        : Positive(random, scale_type, grid.scales);
    const Tensor point = codes(grid.scales);
    const bool has_point = random() % 2 == 0;
    const auto floats = [](const Shape& shape, const Values& values) {
      return ToValues(FromValues(kFloat32, shape, values));
    };
    Values xs = floats(grid.shape, ToValues(x));
    const Values scales = ToValues(scale);
    const Values points = has_point ? floats(grid.scales, ToValues(point)) : Values(scales.size());
    std::size_t i = 0;
    ForEach(grid.shape, [&](const Index& at) { xs[i++] -= points[grid.ScaleOf(at)]; });
    xs = floats(grid.shape, xs);
    i = 0;
    ForEach(grid.shape, [&](const Index& at) { xs[i++] *= scales[grid.ScaleOf(at)]; });
    const Tensor wanted = FromValues(to, grid.shape, floats(grid.shape, xs));
    std::vector<Tensor> inputs{x, scale};
    if (has_point) inputs.push_back(point);
    ExpectSame(Run1("DequantizeLinear", inputs, {to, grid.shape}, grid.attributes),
               ToValues(wanted));
  });
}

TEST(DequantizeLinearTest, WideIntegersAndFloats) {
  const Tensor scale = FromValues(kFloat32, {}, {0.5});
  EXPECT_EQ(ToValues(Run1("DequantizeLinear",
                          {FromValues(kInt32, {3}, {7, -2147483648.0, 16777217}), scale},
                          {kFloat32, {3}})),
            (Values{3.5, -1073741824, 8388608}));
  const Tensor eights = FromValues(kFloat8E5M2, {4}, {1.5, -kInf, 57344, kNan});
  const Values floats = ToValues(Run1("DequantizeLinear", {eights, scale}, {kFloat32, {4}}));
  EXPECT_EQ(Values(floats.begin(), floats.begin() + 3), (Values{0.75, -28672, 28672}));
  EXPECT_TRUE(std::isnan(floats[3]));
}

TEST(QuantizeLinearTest, BindErrors) {
  const TensorType x{kFloat32, {2, 6}};
  const TensorType y{kUint8, {2, 6}};
  EXPECT_EQ(BindError("QuantizeLinear", {x, {kFloat32, {5}}}, {y}),
            "scales float32[5] do not fit float32[2, 6] along axis 1");
  EXPECT_EQ(BindError("QuantizeLinear", {x, {kFloat32, {2, 2}}}, {y},
                      {{"block_size", std::int64_t{4}}, {"axis", std::int64_t{0}}}),
            "scales float32[2, 2] do not fit float32[2, 6] in blocks of 4 along axis 0, expected "
            "[1, 6]");
  EXPECT_EQ(BindError("QuantizeLinear", {x, {kFloat32, {}}, {kUint8, {1}}}, {y}), "");
  EXPECT_EQ(BindError("QuantizeLinear", {x, {kFloat32, {}}, {kUint8, {6}}}, {y}),
            "input 2 is uint8[6], expected uint8[]");
  EXPECT_EQ(BindError("QuantizeLinear", {x, {kFloat32, {}}, {kInt8, {}}}, {y}),
            "input 2 is int8[], expected uint8[]");
  EXPECT_NE(BindError("QuantizeLinear", {x, {kFloat32, {}}}, {y}, {{"precision", std::int64_t{7}}}),
            "");
  EXPECT_NE(BindError("QuantizeLinear", {x, {kFloat32, {6}}}, {y}, {{"axis", std::int64_t{2}}}),
            "");
  EXPECT_NE(BindError("QuantizeLinear", {x, {kFloat32, {}}}, {{kInt64, {2, 6}}}), "");
  EXPECT_NE(BindError("DequantizeLinear", {{kInt64, {2}}, {kFloat32, {}}}, {{kFloat32, {2}}}), "");
  EXPECT_NE(BindError("DequantizeLinear", {{kInt8, {2}}, {kFloat32, {}}}, {{kFloat64, {2}}}), "");
}

TEST(DynamicQuantizeLinearTest, RangeIncludesZero) {
  const auto run = [](const Values& values) {
    const Shape shape{static_cast<std::int64_t>(values.size())};
    const auto outputs = RunOnce("DynamicQuantizeLinear", {FromValues(kFloat32, shape, values)},
                                 {{kUint8, shape}, {kFloat32, {}}, {kUint8, {}}}, {});
    return std::vector<Values>{ToValues(outputs[0]), ToValues(outputs[1]), ToValues(outputs[2])};
  };
  const auto rounded = [](double value) { return RoundTo(kFloat32, value); };
  EXPECT_EQ(run({0, 2, -3, -2.5, 1.34, 0.5}),
            (std::vector<Values>{{153, 255, 0, 26, 221, 179}, {rounded(5.0F / 255.0F)}, {153}}));
  EXPECT_EQ(run({-1, -2.1, -1.3, -2.5, -3.34, -4})[2], Values{255});
  EXPECT_EQ(run({1, 2.1, 1.3, 2.5, 3.34, 4})[2], Values{0});
  EXPECT_EQ(run({0, 0}), (std::vector<Values>{{0, 0}, {1}, {0}}));
  EXPECT_EQ(run({}), (std::vector<Values>{{}, {1}, {0}}));
}

TEST(DynamicQuantizeLinearTest, MatchesTheFormula) {
  ForSeeds(200, [](std::mt19937& random) {
    const bool is_cut = random() % 40 == 0;  // into parts of which each has a range
    const Shape shape = is_cut ? Shape{Draw(random, 16000, 50000)} : AnyShape(random);
    const double low = static_cast<double>(Draw(random, -4, 0));
    const double high = low + static_cast<double>(Draw(random, 1, 8));
    const Tensor x = RandomOperand(random, kFloat32, shape, low, high);
    const auto rounded = [](double value) { return RoundTo(kFloat32, value); };
    double lowest = 0;
    double highest = 0;
    for (const double value : ToValues(x)) {
      if (std::isnan(value)) continue;
      lowest = std::min(lowest, value);
      highest = std::max(highest, value);
    }
    const bool is_flat = lowest == highest;
    const double scale = is_flat ? 1 : rounded(rounded(highest - lowest) / 255);
    // An infinite range has no steps to place zero in.
    const double steps = -lowest / scale;
    const double point = std::isnan(steps) ? 0 : std::clamp(RoundEven(rounded(steps)), 0.0, 255.0);
    Values wanted;
    for (const double value : ToValues(x)) {
      const double code = RoundEven(rounded(value / scale)) + point;
      wanted.push_back(std::isnan(code) ? 0 : std::clamp(code, 0.0, 255.0));
    }
    const auto found =
        RunOnce("DynamicQuantizeLinear", {x}, {{kUint8, shape}, {kFloat32, {}}, {kUint8, {}}}, {});
    ExpectSame(found[0], wanted);
    ExpectSame(found[1], {scale});
    ExpectSame(found[2], {point});
  });
}

}  // namespace
}  // namespace poprt::kernels
