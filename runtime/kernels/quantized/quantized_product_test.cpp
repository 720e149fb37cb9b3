#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "runtime/kernels/quantized/pack_quads.hpp"
#include "runtime/kernels/quantized/quantized_test_tensors.hpp"
#include "runtime/kernels/window/window.hpp"

namespace poprt::kernels {
namespace {

using testing::BindError;
using testing::Draw;
using testing::Flat;
using testing::ForEach;
using testing::ForSeeds;
using testing::Index;
using testing::RandomSpecials;
using testing::Run1;
using testing::Values;
using testing::quantized::ExpectSame;
using testing::quantized::FromValues;
using testing::quantized::Pick;
using testing::quantized::Positive;
using testing::quantized::RandomCodes;
using testing::quantized::RandomIntegers;
using testing::quantized::RoundEven;
using testing::quantized::RoundTo;
using testing::quantized::ToValues;
using enum ElementType;

/// Scales or zero points of an operand of MatMul in one of the allowed shapes; `lines` is the axis
/// they run along.
Shape RandomParameterShape(std::mt19937& random, const Shape& operand, bool is_left) {
  const std::size_t rank = operand.size();
  if (rank < 2 || random() % 3 == 0) return random() % 2 == 0 ? Shape{} : Shape{1};
  const std::int64_t lines = operand[is_left ? rank - 2 : rank - 1];
  if (random() % 2 == 0) return {lines};
  Shape shape = operand;
  shape[is_left ? rank - 1 : rank - 2] = 1;
  for (std::size_t i = 0; i < rank; ++i) {
    if (random() % 4 == 0) shape[i] = 1;
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
  const auto extent = [&](int most) { return random() % 20 == 0 ? 0 : Draw(random, 1, most); };
  const std::int64_t rows = extent(random() % 8 == 0 ? 150 : 9);
  const std::int64_t columns = extent(random() % 8 == 0 ? 230 : 9);
  const std::int64_t depth = extent(random() % 8 == 0 ? 2500 : 40);
  if (random() % 8 == 0) return {{depth}, {depth, columns}, {columns}};
  if (random() % 8 == 0) return {{rows, depth}, {depth}, {rows}};
  Shape batch(rows * columns * depth > 4000 ? 0 : random() % 5);
  for (auto& size : batch) size = extent(3);
  const auto operand = [&](std::int64_t height, std::int64_t width) {
    Shape shape = testing::Narrowed(random, batch);
    shape.insert(shape.end(), {height, width});
    return shape;
  };
  const auto outer = [](const Shape& shape) { return Shape(shape.begin(), shape.end() - 2); };
  MatMulCase result{operand(rows, depth), operand(depth, columns), {}};
  result.y = Broadcast(outer(result.a), outer(result.b)).value();
  result.y.insert(result.y.end(), {rows, columns});
  return result;
}

/// Calls next(sum, row, column) for every output: the sum of products of doubles, and the row of
/// the left and the column of the right operand, counted through all matrices.
template <typename F>
void ForProducts(const MatMulCase& c, const Values& a, const Values& b, const F& next) {
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
    next(sum, static_cast<std::size_t>(a_at * rows + row),
         static_cast<std::size_t>(b_at * columns + column));
  }
}

/// The operand without the axis that is summed over.
Shape Lines(Shape operand, bool is_left) {
  operand[is_left || operand.size() == 1 ? operand.size() - 1 : operand.size() - 2] = 1;
  return operand;
}

Values Minus(const Tensor& tensor, const Values& points) {
  Values values = ToValues(tensor);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] -= points[i];
  return values;
}

TEST(MatMulIntegerTest, MatchesTheFormula) {
  ForSeeds(250, [](std::mt19937& random) {
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
    Values wanted;
    ForProducts(c, as, bs, [&](double sum, auto...) { wanted.push_back(sum); });
    ExpectSame(Run1("MatMulInteger", inputs, {kInt32, c.y}), wanted);
  });
}

double Requantized(ElementType to, double value) {
  if (!IsInteger(to)) return RoundTo(to, value);
  const auto [lowest, highest] = RangeOf(to);
  return std::isnan(value) ? lowest : std::clamp<double>(RoundEven(value), lowest, highest);
}

TEST(QLinearMatMulTest, MatchesTheFormula) {
  ForSeeds(250, [](std::mt19937& random) {
    const MatMulCase c = RandomMatMul(random);
    const auto element = [&] {
      return random() % 3 == 0 ? Pick<ElementType>(random, {kFloat8E4M3FN, kFloat8E4M3FNUZ,
                                                            kFloat8E5M2, kFloat8E5M2FNUZ})
                               : Pick<ElementType>(random, {kInt8, kUint8});
    };
    const ElementType left = element();
    const ElementType right = element();
    const ElementType result = element();
    const auto scale_type = Pick<ElementType>(random, {kFloat32, kFloat16, kBFloat16});
    const Shape a_shape = RandomParameterShape(random, c.a, true);
    const Shape b_shape = RandomParameterShape(random, c.b, false);
    const std::vector<Tensor> inputs{
        RandomCodes(random, left, c.a),        Positive(random, scale_type, a_shape),
        RandomCodes(random, left, a_shape),    RandomCodes(random, right, c.b),
        Positive(random, scale_type, b_shape), RandomCodes(random, right, b_shape),
        FromValues(scale_type, {}, {4.7}),     RandomCodes(random, result, {})};
    const auto differences = [&](std::size_t operand, bool is_left) {
      const Shape& shape = inputs[operand].shape();
      const Values exact = Minus(inputs[operand], Spread(inputs[operand + 2], shape, is_left));
      return ToValues(FromValues(kFloat32, shape, exact));
    };
    const Values a_scales = Spread(inputs[1], Lines(c.a, true), true);
    const Values b_scales = Spread(inputs[4], Lines(c.b, false), false);
    const double y_scale = ToValues(inputs[6]).front();
    const double y_point = ToValues(inputs[7]).front();
    Values wanted;
    ForProducts(c, differences(0, true), differences(3, false),
                [&](double sum, std::size_t row, std::size_t column) {
                  const double product = RoundTo(scale_type, a_scales[row] * b_scales[column]);
                  const double factor = RoundTo(scale_type, product / y_scale);
                  wanted.push_back(Requantized(result, sum * factor + y_point));
                });
    ExpectSame(Run1("QLinearMatMul", inputs, {result, c.y}), wanted);
    const bool can_pack = Contains(kByteTypes, left) && Contains(kByteTypes, right) &&
                          c.b.size() == 2 && inputs[3].count() > 0;
    if (!can_pack) return;
    std::vector<Tensor> packed = inputs;
    packed[3] = PackQuads(inputs[3]);
    ExpectSame(Run1("QLinearMatMul", packed, {result, c.y}, {{"n", c.b[1]}}), wanted);
  });
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
  const auto sometimes_none = [&](int most) {
    return random() % 15 == 0 ? 0 : Draw(random, 1, most);
  };
  // Of several blocks of channels or many groups, with lines of many rows or long ones.
  const bool is_large = random() % 25 == 0;
  c.groups = is_large ? Pick<std::int64_t>(random, {1, 9}) : Draw(random, 1, 3);
  const std::int64_t depth = random() % 10 == 0 ? 40 : sometimes_none(3);
  c.x = {sometimes_none(2), c.groups * depth};
  c.w = {c.groups * (is_large && c.groups == 1 ? Draw(random, 16, 34) : sometimes_none(3)), depth};
  const std::size_t rank = 1 + random() % (is_large ? 2 : 4);
  Ints strides;
  Ints dilations;
  Ints pads;
  for (std::size_t i = 0; i < rank; ++i) {
    c.w.push_back(Draw(random, 1, rank > 2 ? 2 : random() % 4 == 0 ? 6 : 3));
    strides.push_back(Draw(random, 1, 3));
    dilations.push_back(Draw(random, 1, 2));
    c.x.push_back((c.w.back() - 1) * dilations.back() + Draw(random, 1, rank > 2 ? 3 : 7));
    if (is_large) c.x.back() += Draw(random, 9, rank == 1 ? 600 : 40);
    pads.push_back(random() % 3);
  }
  for (std::size_t i = 0; i < rank; ++i) pads.push_back(random() % 3);
  c.attributes = {{"group", c.groups}, {"strides", strides}, {"dilations", dilations}};
  if (random() % 4 == 0) {
    c.attributes.set("auto_pad", Pick<std::string>(random, {"SAME_UPPER", "SAME_LOWER", "VALID"}));
  } else {
    if (random() % 8 == 0) {
      // Nothing but padding.
      pads[0] += c.x[2];
      c.x[2] = 0;
    }
    c.attributes.set("pads", pads);
  }
  const Shape spatial(c.x.begin() + 2, c.x.end());
  c.window = ResolveWindow(c.attributes, spatial, Ints(c.w.begin() + 2, c.w.end()));
  c.y = {c.x[0], c.w[0]};
  for (const std::int64_t size : WindowOutputExtents(c.window, spatial, false)) c.y.push_back(size);
  return c;
}

Values ReferenceConv(const ConvCase& c, const Values& x, const Values& w) {
  Shape taps = c.w;
  taps[0] = 1;
  return testing::Fill(c.y, [&](const Index& out) {
    const std::int64_t group = out[1] / (c.w[0] / c.groups);
    double sum = 0;
    ForEach(taps, [&](Index tap) {
      Index in{out[0], group * c.w[1] + tap[1]};
      for (std::size_t d = 0; d + 2 < c.x.size(); ++d) {
        in.push_back(out[d + 2] * c.window.strides[d] - c.window.pads_begin[d] +
                     tap[d + 2] * c.window.dilations[d]);
        if (in.back() < 0 || in.back() >= c.x[d + 2]) return;
      }
      tap[0] = out[1];
      sum += x[Flat(c.x, in)] * w[Flat(c.w, tap)];
    });
    return sum;
  });
}

/// Scales or zero points, of one or all output channels, for every weight or output.
Values SpreadChannels(const Tensor& parameters, const Shape& shape, std::size_t axis) {
  const Values values = ToValues(parameters);
  return testing::Fill(shape, [&](const Index& at) {
    return values[values.size() == 1 ? 0 : static_cast<std::size_t>(at[axis])];
  });
}

Shape RandomChannels(std::mt19937& random, const Shape& w) {
  return Pick<Shape>(random, {{}, {1}, {w[0]}, {w[0]}});
}

void CheckConvInteger(std::mt19937& random, const ConvCase& c) {
  const auto data = Pick<ElementType>(random, {kInt8, kUint8});
  const auto weights = Pick<ElementType>(random, {kInt8, kUint8});
  const Tensor x = RandomIntegers(random, data, c.x);
  const Tensor w = RandomIntegers(random, weights, c.w);
  std::vector<Tensor> inputs{x, w};
  Values xs = ToValues(x);
  Values ws = ToValues(w);
  if (random() % 4 != 0) {
    inputs.push_back(RandomIntegers(random, data, random() % 2 == 0 ? Shape{} : Shape{1}));
    xs = Minus(x, SpreadChannels(inputs[2], c.x, 1));
    if (random() % 4 != 0) {
      inputs.push_back(RandomIntegers(random, weights, RandomChannels(random, c.w)));
      ws = Minus(w, SpreadChannels(inputs[3], c.w, 0));
    }
  }
  ExpectSame(Run1("ConvInteger", inputs, {kInt32, c.y}, c.attributes), ReferenceConv(c, xs, ws));
}

TEST(ConvIntegerTest, MatchesTheFormula) {
  ForSeeds(200, [](std::mt19937& random) { CheckConvInteger(random, RandomConv(random)); });
}

/// As many quads of taps as are made of rows, and more.
TEST(ConvIntegerTest, ManyTapsOfOneChannel) {
  ForSeeds(4, [](std::mt19937& random) {
    for (const std::int64_t rows : {16, 17}) {
      CheckConvInteger(random, {.x = {1, 1, 20, 70},
                                .w = {2, 1, rows, 16},
                                .y = {1, 2, 21 - rows, 55},
                                .groups = 1,
                                .window = ResolveWindow({}, {20, 70}, {rows, 16}),
                                .attributes = {}});
    }
  });
}

/// Rows and columns that no tap reads take no memory.
TEST(ConvIntegerTest, OutputsMayBeFarApart) {
  constexpr std::int64_t kFar = 1 << 29;
  const Tensor x = FromValues(kUint8, {1, 1, 2, 2}, {1, 2, 3, 4});
  const Tensor w = FromValues(kInt8, {1, 1, 2, 2}, {1, 10, 100, -1});
  const Attributes attributes{{"strides", Ints{kFar, kFar}}, {"pads", Ints{0, 0, kFar, kFar}}};
  EXPECT_EQ(ToValues(Run1("ConvInteger", {x, w}, {kInt32, {1, 1, 2, 2}}, attributes)),
            (Values{317, 0, 0, 0}));
}

TEST(QLinearConvTest, MatchesTheFormula) {
  ForSeeds(200, [](std::mt19937& random) {
    const ConvCase c = RandomConv(random);
    const auto byte = [&] { return Pick<ElementType>(random, {kInt8, kUint8}); };
    const ElementType data = byte();
    const ElementType weights = byte();
    const ElementType result = byte();
    const Shape channels = RandomChannels(random, c.w);
    const bool special_scales = random() % 4 == 0;
    std::vector<Tensor> inputs{RandomIntegers(random, data, c.x),
                               Positive(random, kFloat32, {}),
                               RandomIntegers(random, data, {}),
                               RandomIntegers(random, weights, c.w),
                               special_scales ? RandomSpecials(random, kFloat32, channels, 0, 1)
                                              : Positive(random, kFloat32, channels),
                               RandomIntegers(random, weights, channels),
                               FromValues(kFloat32, {}, {7.3}),
                               RandomIntegers(random, result, {})};
    Tensor bias = FromValues(kInt32, {c.w[0]}, Values(static_cast<std::size_t>(c.w[0])));
    if (random() % 2 == 0) {
      bias = testing::RandomTensor(random, kInt32, {c.w[0]}, -1e4, 1e4);
      inputs.push_back(bias);
    }
    const Values sums = ReferenceConv(c, Minus(inputs[0], SpreadChannels(inputs[2], c.x, 1)),
                                      Minus(inputs[3], SpreadChannels(inputs[5], c.w, 0)));
    const Values w_scales = SpreadChannels(inputs[4], c.y, 1);
    const Values biases = SpreadChannels(bias, c.y, 1);
    const auto single = [&](std::size_t i) { return ToValues(inputs[i]).front(); };
    const double x_scale = single(1), y_scale = single(6), y_point = single(7);
    Values wanted;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const double product = RoundTo(kFloat32, x_scale * w_scales[i]);
      const double factor = RoundTo(kFloat32, product / y_scale);
      wanted.push_back(Requantized(result, (sums[i] + biases[i]) * factor + y_point));
    }
    ExpectSame(Run1("QLinearConv", inputs, {result, c.y}, c.attributes), wanted);
  });
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
  constexpr std::int64_t kFar = 1 << 29;
  const Ints pads{0, 0, 0, kFar, kFar, kFar};
  EXPECT_EQ(
      BindError("ConvInteger", {{kUint8, {1, 8, 1, 1, 1}}, {kInt8, {1, 8, 2, 2, 2}}},
                {{kInt32, {1, 1, 1, 1, 1}}},
                {{"dilations", Ints{kFar, kFar, kFar}}, {"pads", pads}}),
      "the padded input of a group [2, 536870913, 1, 536870913, 1, 536870913, 1, 4096] is too "
      "large");
  // Without channels there are no weights that would bound a kernel.
  EXPECT_EQ(BindError("ConvInteger", {{kUint8, {1, 0, 1}}, {kInt8, {3, 0, kFar}}},
                      {{kInt32, {1, 3, 2}}}, {{"pads", Ints{0, kFar}}}),
            "");
  EXPECT_NE(BindError("ConvInteger", {{kUint8, {1, 0, 1, 1, 1}}, {kInt8, {3, 0, kFar, kFar, kFar}}},
                      {{kInt32, {1, 3, 2, 2, 2}}}, {{"pads", pads}}),
            "");
}

}  // namespace
}  // namespace poprt::kernels
