#include "runtime/kernels/quantized/quantized.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/kernels/kernel_test_tensors.hpp"
#include "runtime/kernels/window/window.hpp"

namespace poprt::kernels {
namespace {

using testing::BindError;
using testing::Run1;
using testing::Values;
using enum ElementType;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// ---- Tensors of any type as lists of doubles ----------------------------------------------------

Tensor FromValues(ElementType element, const Shape& shape, const Values& values) {
  const Tensor doubles = testing::FromValues(kFloat64, shape, values);
  return element == kFloat64 ? doubles : Run1("Cast", {doubles}, {element, shape});
}

Values ToValues(const Tensor& tensor) {
  return testing::ToValues(
      tensor.element() == kFloat64 ? tensor : Run1("Cast", {tensor}, {kFloat64, tensor.shape()}));
}

Tensor RandomIntegers(std::mt19937& random, ElementType element, const Shape& shape) {
  const auto [lowest, highest] = RangeOf(element);
  Values values(static_cast<std::size_t>(ElementCount(shape)));
  for (double& value : values) {
    value = lowest + static_cast<double>(random() % static_cast<unsigned>(highest - lowest + 1));
  }
  return FromValues(element, shape, values);
}

Tensor Positive(std::mt19937& random, ElementType element, const Shape& shape) {
  std::uniform_real_distribution<double> draw(0.01, 0.5);
  Values values(static_cast<std::size_t>(ElementCount(shape)));
  for (double& value : values) value = draw(random);
  return FromValues(element, shape, values);
}

template <typename T>
T Pick(std::mt19937& random, const std::vector<T>& choices) {
  return choices[random() % choices.size()];
}

double RoundTo(ElementType element, double value) {
  return ToValues(FromValues(element, {}, {value})).front();
}

// ---- QuantizeLinear, DequantizeLinear -----------------------------------------------------------

/// A random grid of scales for a random shape.
struct Grid {
  Shape shape;
  Shape scales;
  std::size_t axis = 0;
  std::int64_t block = 0;  // 0: per axis or one scale
  bool is_uniform = true;

  Attributes attributes() const {
    Attributes result{{"axis", static_cast<std::int64_t>(axis)}};
    if (block > 0) result.set("block_size", block);
    return result;
  }
  std::size_t ScaleOf(std::int64_t at) const {
    if (is_uniform) return 0;
    std::int64_t inner = 1;
    for (std::size_t i = axis + 1; i < shape.size(); ++i) inner *= shape[i];
    const std::int64_t position = at / inner % shape[axis];
    if (block == 0) return static_cast<std::size_t>(position);
    const std::int64_t outer = at / inner / shape[axis];
    return static_cast<std::size_t>((outer * scales[axis] + position / block) * inner + at % inner);
  }
};

Grid RandomGrid(std::mt19937& random) {
  Grid grid;
  grid.shape = testing::RandomShape(random, 4);
  if (grid.shape.empty() || random() % 3 == 0) {
    grid.scales = random() % 2 == 0 ? Shape{} : Shape{1};
    return grid;
  }
  grid.is_uniform = false;
  grid.axis = random() % grid.shape.size();
  const std::int64_t extent = grid.shape[grid.axis];
  if (random() % 2 == 0) {
    grid.scales = {extent};
  } else {
    grid.block = 1 + random() % 5;
    grid.scales = grid.shape;
    grid.scales[grid.axis] = (extent + grid.block - 1) / grid.block;
  }
  return grid;
}

double RoundEven(double value) { return std::nearbyint(value); }

TEST(QuantizeLinearTest, IntegersAreRoundedToEvenAndSaturated) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const Grid grid = RandomGrid(random);
    const auto from = Pick<ElementType>(random, {kFloat32, kFloat16, kBFloat16, kInt32});
    const auto scale_type = Pick<ElementType>(random, {kFloat32, kFloat16, kBFloat16});
    const auto to =
        Pick<ElementType>(random, {kInt8, kUint8, kInt16, kUint16, kInt4, kUint4, kInt2, kUint2});
    const Tensor x = testing::RandomTensor(random, from, grid.shape, -60, 60);
    const Tensor scale = Positive(random, scale_type, grid.scales);
    const Tensor point = RandomIntegers(random, to, grid.scales);
    const bool has_point = random() % 2 == 0;
    const auto precision = Pick<ElementType>(random, {kUndefined, kFloat32, kFloat16, kFloat64});
    Attributes attributes = grid.attributes();
    if (precision != kUndefined) attributes.set("precision", static_cast<std::int64_t>(precision));
    const ElementType divide = precision == kUndefined ? scale_type : precision;

    const Values xs = ToValues(x);
    const Values scales = ToValues(scale);
    const Values points = ToValues(point);
    const auto [lowest, highest] = RangeOf(to);
    Values wanted;
    for (std::size_t i = 0; i < xs.size(); ++i) {
      const std::size_t k = grid.ScaleOf(static_cast<std::int64_t>(i));
      const double quotient = RoundTo(divide, RoundTo(divide, xs[i]) / RoundTo(divide, scales[k]));
      const double value = RoundEven(quotient) + (has_point ? points[k] : 0);
      wanted.push_back(std::clamp<double>(value, lowest, highest));
    }
    std::vector<Tensor> inputs{x, scale};
    if (has_point) inputs.push_back(point);
    EXPECT_EQ(ToValues(Run1("QuantizeLinear", inputs, {to, grid.shape}, attributes)), wanted);
    if (::testing::Test::HasFailure()) return;
  }
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

TEST(QuantizeLinearTest, PowersOfTwoAsScales) {
  const Tensor x = FromValues(kFloat32, {3}, {1, 10, -3});
  const Tensor scale = FromValues(kFloat8E8M0, {}, {0.5});
  EXPECT_EQ(ToValues(Run1("QuantizeLinear", {x, scale}, {kInt8, {3}})), (Values{2, 20, -6}));
}

TEST(DequantizeLinearTest, MatchesTheFormula) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const Grid grid = RandomGrid(random);
    const auto from =
        Pick<ElementType>(random, {kInt8, kUint8, kInt16, kUint16, kInt4, kUint4, kInt2, kUint2});
    const auto scale_type = Pick<ElementType>(random, {kFloat32, kFloat16, kBFloat16, kFloat8E8M0});
    const auto to = Pick<ElementType>(random, {kFloat32, kFloat16, kBFloat16});
    const Tensor x = RandomIntegers(random, from, grid.shape);
    const Tensor scale = Positive(random, scale_type, grid.scales);
    const Tensor point = RandomIntegers(random, from, grid.scales);
    const bool has_point = random() % 2 == 0;
    const Values xs = ToValues(x);
    const Values scales = ToValues(scale);
    const Values points = ToValues(point);
    Values wanted;
    for (std::size_t i = 0; i < xs.size(); ++i) {
      const std::size_t k = grid.ScaleOf(static_cast<std::int64_t>(i));
      const double product = (xs[i] - (has_point ? points[k] : 0)) * scales[k];
      wanted.push_back(RoundTo(to, RoundTo(kFloat32, product)));
    }
    std::vector<Tensor> inputs{x, scale};
    if (has_point) inputs.push_back(point);
    EXPECT_EQ(ToValues(Run1("DequantizeLinear", inputs, {to, grid.shape}, grid.attributes())),
              wanted);
    if (::testing::Test::HasFailure()) return;
  }
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

// ---- Integer products ---------------------------------------------------------------------------

/// Scales or zero points of an operand of MatMul in one of the allowed shapes; `lines` is the axis
/// they run along.
Shape RandomParameterShape(std::mt19937& random, const Shape& operand, bool is_left) {
  const std::size_t rank = operand.size();
  if (rank < 2 || random() % 3 == 0) return random() % 2 == 0 ? Shape{} : Shape{1};
  const std::int64_t lines = operand[is_left ? rank - 2 : rank - 1];
  if (random() % 2 == 0) return {lines};
  Shape shape = operand;
  shape[is_left ? rank - 1 : rank - 2] = 1;
  for (std::size_t i = 0; i + 2 < rank; ++i) {
    if (random() % 3 == 0) shape[i] = 1;
  }
  return shape;
}

/// Every parameter of an operand repeated for all its elements.
Values Spread(const Tensor& parameters, const Shape& operand, bool is_left) {
  Shape own = parameters.shape();
  if (is_left && own.size() == 1 && own[0] != 1) own.push_back(1);
  const Values values = ToValues(parameters);
  Values spread;
  for (std::int64_t i = 0; i < ElementCount(operand); ++i) {
    spread.push_back(values[values.size() == 1 ? 0 : testing::BroadcastIndex(operand, own, i)]);
  }
  return spread;
}

struct MatMulCase {
  Shape a;
  Shape b;
  Shape y;
};

MatMulCase RandomMatMul(std::mt19937& random) {
  const auto extent = [&](unsigned most) { return static_cast<std::int64_t>(1 + random() % most); };
  const std::int64_t rows = extent(random() % 8 == 0 ? 150 : 9);
  const std::int64_t columns = extent(random() % 8 == 0 ? 90 : 9);
  const std::int64_t depth = random() % 30 == 0 ? 0 : extent(random() % 8 == 0 ? 2500 : 40);
  MatMulCase result;
  if (random() % 8 == 0) return {{depth}, {depth, columns}, {columns}};
  if (random() % 8 == 0) return {{rows, depth}, {depth}, {rows}};
  const Shape batch = rows * columns > 400 ? Shape{} : testing::RandomShape(random, 2);
  if (!batch.empty() && ElementCount(batch) > 12)
    return {{rows, depth}, {depth, columns}, {rows, columns}};
  result = {batch, batch, batch};
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (random() % 3 == 0) (random() % 2 == 0 ? result.a : result.b)[i] = 1;
  }
  if (!batch.empty() && random() % 3 == 0) result.b.erase(result.b.begin());
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const std::size_t missing = batch.size() - result.b.size();
    const std::int64_t right = i < missing ? 1 : result.b[i - missing];
    result.y[i] = result.a[i] == 1 ? right : result.a[i];
  }
  result.a.insert(result.a.end(), {rows, depth});
  result.b.insert(result.b.end(), {depth, columns});
  result.y.insert(result.y.end(), {rows, columns});
  return result;
}

/// Sums of products of doubles by indexing one output after the other; `scale` gets the product of
/// the scales of its row and column.
Values ReferenceMatMul(const MatMulCase& c, const Values& a, const Values& b, const Values* a_scale,
                       const Values* b_scale, std::vector<std::pair<double, double>>* scales) {
  Shape left = c.a;
  Shape right = c.b;
  Shape y = c.y;
  if (c.a.size() == 1) {
    left.insert(left.begin(), 1);
    y.insert(y.end() - 1, 1);
  }
  if (c.b.size() == 1) {
    right.push_back(1);
    y.push_back(1);
  }
  const std::int64_t depth = left.back();
  const std::int64_t rows = y[y.size() - 2];
  const std::int64_t columns = y.back();
  const Shape batch(y.begin(), y.end() - 2);
  const Shape left_batch(left.begin(), left.end() - 2);
  const Shape right_batch(right.begin(), right.end() - 2);
  Values sums;
  for (std::int64_t i = 0; i < ElementCount(y); ++i) {
    const std::int64_t product = i / (rows * columns);
    const auto a_at =
        static_cast<std::int64_t>(testing::BroadcastIndex(batch, left_batch, product));
    const auto b_at =
        static_cast<std::int64_t>(testing::BroadcastIndex(batch, right_batch, product));
    const std::int64_t row = i / columns % rows;
    const std::int64_t column = i % columns;
    double sum = 0;
    for (std::int64_t k = 0; k < depth; ++k) {
      sum += a[static_cast<std::size_t>((a_at * rows + row) * depth + k)] *
             b[static_cast<std::size_t>((b_at * depth + k) * columns + column)];
    }
    sums.push_back(sum);
    if (scales == nullptr) continue;
    scales->emplace_back((*a_scale)[static_cast<std::size_t>((a_at * rows + row) * depth)],
                         (*b_scale)[static_cast<std::size_t>(b_at * depth * columns + column)]);
  }
  return sums;
}

Values Minus(const Tensor& tensor, const Values& points) {
  Values values = ToValues(tensor);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] -= points[i];
  return values;
}

TEST(MatMulIntegerTest, MatchesTheFormula) {
  for (unsigned seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const MatMulCase c = RandomMatMul(random);
    const auto left = Pick<ElementType>(random, {kInt8, kUint8});
    const auto right = Pick<ElementType>(random, {kInt8, kUint8});
    const Tensor a = RandomIntegers(random, left, c.a);
    const Tensor b = RandomIntegers(random, right, c.b);
    const Tensor a_point = RandomIntegers(random, left, RandomParameterShape(random, c.a, true));
    const Tensor b_point = RandomIntegers(random, right, RandomParameterShape(random, c.b, false));
    std::vector<Tensor> inputs{a, b};
    Values as = ToValues(a);
    Values bs = ToValues(b);
    if (random() % 4 != 0) {
      inputs.push_back(a_point);
      as = Minus(a, Spread(a_point, c.a, true));
      if (random() % 4 != 0) {
        inputs.push_back(b_point);
        bs = Minus(b, Spread(b_point, c.b, false));
      }
    }
    EXPECT_EQ(ToValues(Run1("MatMulInteger", inputs, {kInt32, c.y})),
              ReferenceMatMul(c, as, bs, nullptr, nullptr, nullptr));
    if (::testing::Test::HasFailure()) return;
  }
}

double Requantized(ElementType to, double value) {
  if (!IsInteger(to)) return RoundTo(to, value);
  const auto [lowest, highest] = RangeOf(to);
  return std::clamp<double>(RoundEven(value), lowest, highest);
}

TEST(QLinearMatMulTest, MatchesTheFormula) {
  for (unsigned seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const MatMulCase c = RandomMatMul(random);
    const auto element = [&] {
      return random() % 5 == 0 ? Pick<ElementType>(random, {kFloat8E4M3FN, kFloat8E5M2FNUZ})
                               : Pick<ElementType>(random, {kInt8, kUint8});
    };
    const auto operand = [&](ElementType type, const Shape& shape) {
      return IsInteger(type) ? RandomIntegers(random, type, shape)
                             : Run1("Cast", {testing::RandomTensor(random, kFloat32, shape, -9, 9)},
                                    {type, shape});
    };
    const ElementType left = element();
    const ElementType right = element();
    const ElementType result = element();
    const auto scale_type = Pick<ElementType>(random, {kFloat32, kFloat16, kBFloat16});
    const Shape a_shape = RandomParameterShape(random, c.a, true);
    const Shape b_shape = RandomParameterShape(random, c.b, false);
    const std::vector<Tensor> inputs{operand(left, c.a),
                                     Positive(random, scale_type, a_shape),
                                     operand(left, a_shape),
                                     operand(right, c.b),
                                     Positive(random, scale_type, b_shape),
                                     operand(right, b_shape),
                                     FromValues(scale_type, {}, {4.7}),
                                     operand(result, {})};
    const Values a_scales = Spread(inputs[1], c.a, true);
    const Values b_scales = Spread(inputs[4], c.b, false);
    std::vector<std::pair<double, double>> scales;
    if (c.a.back() == 0) continue;
    const Values sums = ReferenceMatMul(c, Minus(inputs[0], Spread(inputs[2], c.a, true)),
                                        Minus(inputs[3], Spread(inputs[5], c.b, false)), &a_scales,
                                        &b_scales, &scales);
    const double y_scale = ToValues(inputs[6]).front();
    const double y_point = ToValues(inputs[7]).front();
    Values wanted;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const double factor =
          RoundTo(scale_type, RoundTo(scale_type, scales[i].first * scales[i].second) / y_scale);
      wanted.push_back(Requantized(result, sums[i] * factor + y_point));
    }
    EXPECT_EQ(ToValues(Run1("QLinearMatMul", inputs, {result, c.y})), wanted);
    if (::testing::Test::HasFailure()) return;
  }
}

struct ConvCase {
  Shape x;
  Shape w;
  Shape y;
  std::int64_t groups = 1;
  Window window;
  Attributes attributes;
};

ConvCase RandomConv(std::mt19937& random) {
  ConvCase c;
  const auto extent = [&](unsigned most) { return static_cast<std::int64_t>(1 + random() % most); };
  c.groups = extent(3);
  const std::int64_t depth = random() % 10 == 0 ? 40 : extent(3);
  c.x = {extent(2), c.groups * depth};
  c.w = {c.groups * extent(3), depth};
  const std::size_t rank = 1 + random() % 3;
  Ints strides;
  Ints dilations;
  Ints pads;
  for (std::size_t i = 0; i < rank; ++i) {
    c.w.push_back(extent(random() % 4 == 0 ? 6 : 3));
    strides.push_back(extent(2));
    dilations.push_back(extent(2));
    c.x.push_back((c.w.back() - 1) * dilations.back() + extent(7));
    pads.push_back(random() % 3);
  }
  for (std::size_t i = 0; i < rank; ++i) pads.push_back(random() % 3);
  c.attributes = {{"group", c.groups}, {"strides", strides}, {"dilations", dilations}};
  if (random() % 4 == 0) {
    c.attributes.set("auto_pad", Pick<std::string>(random, {"SAME_UPPER", "SAME_LOWER", "VALID"}));
  } else {
    c.attributes.set("pads", pads);
  }
  const Shape spatial(c.x.begin() + 2, c.x.end());
  c.window = ResolveWindow(c.attributes, spatial, Ints(c.w.begin() + 2, c.w.end()));
  c.y = {c.x[0], c.w[0]};
  for (const std::int64_t size : WindowOutputExtents(c.window, spatial, false)) c.y.push_back(size);
  return c;
}

Shape Unravel(std::int64_t at, const Shape& shape) {
  Shape index(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    index[i] = at % shape[i];
    at /= shape[i];
  }
  return index;
}

std::size_t Ravel(const Shape& index, const Shape& shape) {
  std::int64_t at = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) at = at * shape[i] + index[i];
  return static_cast<std::size_t>(at);
}

Values ReferenceConv(const ConvCase& c, const Values& x, const Values& w) {
  Values y;
  Shape taps = c.w;
  taps.erase(taps.begin());
  for (std::int64_t i = 0; i < ElementCount(c.y); ++i) {
    const Shape out = Unravel(i, c.y);
    const std::int64_t group = out[1] / (c.w[0] / c.groups);
    double sum = 0;
    for (std::int64_t k = 0; k < ElementCount(taps); ++k) {
      Shape tap = Unravel(k, taps);
      Shape in{out[0], group * c.w[1] + tap[0]};
      bool inside = true;
      for (std::size_t d = 0; d + 2 < c.x.size(); ++d) {
        in.push_back(out[d + 2] * c.window.strides[d] - c.window.pads_begin[d] +
                     tap[d + 1] * c.window.dilations[d]);
        inside = inside && in.back() >= 0 && in.back() < c.x[d + 2];
      }
      tap.insert(tap.begin(), out[1]);
      if (inside) sum += x[Ravel(in, c.x)] * w[Ravel(tap, c.w)];
    }
    y.push_back(sum);
  }
  return y;
}

/// Zero points of the weights, of one or all output channels, for every weight.
Values SpreadChannels(const Tensor& parameters, const Shape& w) {
  const Values values = ToValues(parameters);
  const std::int64_t per_channel = ElementCount(w) / w[0];
  Values spread;
  for (std::int64_t i = 0; i < ElementCount(w); ++i) {
    spread.push_back(values[values.size() == 1 ? 0 : static_cast<std::size_t>(i / per_channel)]);
  }
  return spread;
}

Shape RandomChannels(std::mt19937& random, const Shape& w) {
  return Pick<Shape>(random, {{}, {1}, {w[0]}, {w[0]}});
}

Values Repeat(const Tensor& scalar, std::int64_t count) {
  return Values(static_cast<std::size_t>(count), ToValues(scalar).front());
}

TEST(ConvIntegerTest, MatchesTheFormula) {
  for (unsigned seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const ConvCase c = RandomConv(random);
    const auto data = Pick<ElementType>(random, {kInt8, kUint8});
    const auto weights = Pick<ElementType>(random, {kInt8, kUint8});
    const Tensor x = RandomIntegers(random, data, c.x);
    const Tensor w = RandomIntegers(random, weights, c.w);
    std::vector<Tensor> inputs{x, w};
    Values xs = ToValues(x);
    Values ws = ToValues(w);
    if (random() % 4 != 0) {
      inputs.push_back(RandomIntegers(random, data, random() % 2 == 0 ? Shape{} : Shape{1}));
      xs = Minus(x, Repeat(inputs[2], x.count()));
      if (random() % 4 != 0) {
        inputs.push_back(RandomIntegers(random, weights, RandomChannels(random, c.w)));
        ws = Minus(w, SpreadChannels(inputs[3], c.w));
      }
    }
    EXPECT_EQ(ToValues(Run1("ConvInteger", inputs, {kInt32, c.y}, c.attributes)),
              ReferenceConv(c, xs, ws));
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(QLinearConvTest, MatchesTheFormula) {
  for (unsigned seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const ConvCase c = RandomConv(random);
    const auto byte = [&] { return Pick<ElementType>(random, {kInt8, kUint8}); };
    const ElementType data = byte();
    const ElementType weights = byte();
    const ElementType result = byte();
    const Shape channels = RandomChannels(random, c.w);
    std::vector<Tensor> inputs{
        RandomIntegers(random, data, c.x),    Positive(random, kFloat32, {}),
        RandomIntegers(random, data, {}),     RandomIntegers(random, weights, c.w),
        Positive(random, kFloat32, channels), RandomIntegers(random, weights, channels),
        FromValues(kFloat32, {}, {7.3}),      RandomIntegers(random, result, {})};
    Values bias(static_cast<std::size_t>(c.w[0]), 0);
    if (random() % 2 == 0) {
      for (double& value : bias) value = static_cast<double>(random() % 20000) - 10000;
      inputs.push_back(FromValues(kInt32, {c.w[0]}, bias));
    }
    const Values sums = ReferenceConv(c, Minus(inputs[0], Repeat(inputs[2], inputs[0].count())),
                                      Minus(inputs[3], SpreadChannels(inputs[5], c.w)));
    const Values w_scales = ToValues(inputs[4]);
    Values wanted;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const auto channel = static_cast<std::size_t>(Unravel(static_cast<std::int64_t>(i), c.y)[1]);
      const double product = RoundTo(
          kFloat32, ToValues(inputs[1]).front() * w_scales[w_scales.size() == 1 ? 0 : channel]);
      const double factor = RoundTo(kFloat32, product / ToValues(inputs[6]).front());
      wanted.push_back(
          Requantized(result, (sums[i] + bias[channel]) * factor + ToValues(inputs[7]).front()));
    }
    EXPECT_EQ(ToValues(Run1("QLinearConv", inputs, {result, c.y}, c.attributes)), wanted);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(ProductsTest, SumsWrapAndDoNotDependOnThreads) {
  // 40000 products of 255 * 255 exceed 2^31.
  const std::int64_t depth = 40000;
  Tensor a({kUint8, {1, depth}});
  std::fill_n(a.mutable_data(), depth, std::byte{255});
  Tensor b({kUint8, {depth, 1}});
  std::fill_n(b.mutable_data(), depth, std::byte{255});
  EXPECT_EQ(ToValues(Run1("MatMulInteger", {a, b}, {kInt32, {1, 1}})),
            (Values{255.0 * 255.0 * 40000 - 0x1p32}));
}

TEST(ProductsTest, BindErrors) {
  const TensorType a{kUint8, {2, 3}};
  const TensorType b{kInt8, {3, 4}};
  const TensorType y{kInt32, {2, 4}};
  EXPECT_EQ(BindError("MatMulInteger", {a, b}, {y}), "");
  EXPECT_NE(BindError("MatMulInteger", {a, {kInt8, {4, 4}}}, {y}), "");
  EXPECT_NE(BindError("MatMulInteger", {a, b, {kInt8, {}}}, {y}), "");
  EXPECT_EQ(BindError("MatMulInteger", {a, b, {kUint8, {4}}}, {y}),
            "input 2 is uint8[4], which is neither one number nor 2 for the rows or columns of its "
            "operand");
  EXPECT_NE(BindError("MatMulInteger", {a, b, {kUint8, {1, 2, 1}}}, {y}), "");
  EXPECT_NE(BindError("MatMulInteger", {a, b}, {{kInt32, {2, 3}}}), "");
  const TensorType x{kUint8, {1, 2, 5}};
  const TensorType w{kInt8, {3, 2, 2}};
  EXPECT_EQ(BindError("ConvInteger", {x, w}, {{kInt32, {1, 3, 4}}}), "");
  EXPECT_NE(BindError("ConvInteger", {x, w, {kUint8, {}}, {kInt8, {2}}}, {{kInt32, {1, 3, 4}}}),
            "");
  EXPECT_NE(BindError("ConvInteger", {x, {kInt8, {3, 1, 2}}}, {{kInt32, {1, 3, 4}}}), "");
  EXPECT_NE(BindError("ConvInteger", {x, w}, {{kInt32, {1, 3, 4}}}, {{"group", std::int64_t{0}}}),
            "");
}

}  // namespace
}  // namespace poprt::kernels
