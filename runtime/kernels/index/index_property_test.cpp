#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/kernels/kernel_test_index.hpp"

/// Random shapes of any rank for TopK, OneHot, Trilu and the generators.
namespace poprt::kernels::testing {
namespace {

using enum ElementType;

TEST(TopKTest, SortsLinesOfAnyShapeWithNan) {
  ForSeeds(80, [](std::mt19937& random) {
    const bool is_long = random() % 8 == 0;
    const bool lines = is_long || random() % 2 == 0;
    const Shape shape = is_long ? Shape{2, 1300} : lines ? ManyLines(random) : AnyShape(random, 1);
    const std::size_t axis = lines ? 1 : random() % shape.size();
    const ElementType type = std::vector<ElementType>{kFloat32, kInt8,     kFloat16, kUint64,
                                                      kFloat64, kBFloat16, kUint16}[random() % 7];
    const Tensor x = IsFloat(type) ? RandomSpecials(random, type, shape, 0, 4)
                                   : RandomTensor(random, type, shape, 0, 4);
    const Values values = ToValues(x);
    const bool largest = random() % 2 == 0;
    Shape output = shape;
    const bool few = random() % 2 == 0;
    const std::int64_t most = is_long ? 130 : few ? 16 : shape[axis];
    output[axis] = Draw(random, 0, std::min(most, shape[axis]));
    const auto source = [&](Index at) {
      const std::int64_t place = at[axis];
      const auto value = [&](std::int64_t k) {
        at[axis] = k;
        return values[Flat(shape, at)];
      };
      std::vector<std::int64_t> order(static_cast<std::size_t>(shape[axis]));
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
        const double u = value(a);
        const double v = value(b);
        if (std::isnan(u) || std::isnan(v)) return largest ? !std::isnan(v) : !std::isnan(u);
        return largest ? u > v : u < v;
      });
      return order[static_cast<std::size_t>(place)];
    };
    const Attributes attributes{{"k", Ints{output[axis]}},
                                {"axis", EitherSign(random, axis, shape.size())},
                                {"largest", std::int64_t{largest}},
                                {"sorted", static_cast<std::int64_t>(random() % 2)}};
    const TensorType found_values{type, output};
    const TensorType found_indices{kInt64, output};
    const auto found = RunOnce("TopK", {x}, {found_values, found_indices}, attributes);
    EXPECT_EQ(ToValues(found[1]),
              Fill(output, [&](const Index& at) { return static_cast<double>(source(at)); }));
    ExpectClose(found[0],
                Fill(output,
                     [&](Index at) {
                       at[axis] = source(at);
                       return values[Flat(shape, at)];
                     }),
                0);
    EXPECT_EQ(RunOnce("TopK", {x}, {{}, found_indices}, attributes)[1], found[1]);
    EXPECT_EQ(RunOnce("TopK", {x}, {found_values}, attributes)[0], found[0]);
  });
}

TEST(OneHotTest, MarksPositionsOfAnyShape) {
  ForSeeds(80, [](std::mt19937& random) {
    const Shape shape = AnyShape(random, 0, 7);
    const std::size_t axis = random() % (shape.size() + 1);
    const std::int64_t depth = Draw(random, 1, 5);
    const ElementType type =
        std::vector<ElementType>{kInt64, kInt32, kFloat32, kInt8, kFloat16}[random() % 5];
    Tensor indices = RandomTensor(random, type, shape, -7, 7);
    Values where = ToValues(indices);
    for (double& index : where) index = std::trunc(index);
    indices = FromValues(type, shape, where);
    const ElementType value_type =
        std::vector<ElementType>{kFloat32, kBool, kFloat16, kInt64, kUint8}[random() % 5];
    const Tensor values = FromValues(value_type, {2}, {0, 1});
    Shape output = shape;
    output.insert(output.begin() + static_cast<std::ptrdiff_t>(axis), depth);
    const Values wanted = Fill(output, [&](Index at) {
      const std::int64_t place = at[axis];
      at.erase(at.begin() + static_cast<std::ptrdiff_t>(axis));
      const auto index = static_cast<std::int64_t>(where[Flat(shape, at)]);
      return double(index == place || index + depth == place);
    });
    const Attributes at_axis{{"axis", EitherSign(random, axis, output.size())},
                             {"depth", Ints{depth}}};
    EXPECT_EQ(ToValues(Run1("OneHot", {indices, values}, {value_type, output}, at_axis)), wanted);
    Attributes float_depth = at_axis;
    float_depth.set("depth", Floats{static_cast<float>(depth)});
    EXPECT_EQ(ToValues(Run1("OneHot", {indices, values}, {value_type, output}, float_depth)),
              wanted);
  });
}

TEST(TriluTest, MasksMatricesOfAnyShape) {
  ForSeeds(60, [](std::mt19937& random) {
    const Shape shape = AnyShape(random, 2);
    const Tensor x = RandomSpecials(random, random() % 2 == 0 ? kFloat32 : kFloat16, shape, 1, 9);
    const Values values = ToValues(x);
    const std::int64_t k = Draw(random, -6, 6);
    const bool upper = random() % 2 == 0;
    ExpectClose(Run1("Trilu", {x}, x.type(), {{"k", Ints{k}}, {"upper", std::int64_t{upper}}}),
                Fill(shape,
                     [&](const Index& at) {
                       const std::int64_t diagonal = at.back() - at[at.size() - 2];
                       const bool keep = upper ? diagonal >= k : diagonal <= k;
                       return keep ? values[Flat(shape, at)] : 0;
                     }),
                0);
  });
}

TEST(GeneratorTest, EyeLikeAndConstantOfShapeOfAnySize) {
  ForSeeds(60, [](std::mt19937& random) {
    const ElementType type =
        std::vector<ElementType>{kFloat32, kBool, kFloat16, kInt64, kUint8}[random() % 5];
    const Shape matrix = AnyShape(random, 2, 2);
    const std::int64_t k = Draw(random, -45, 45);
    EXPECT_EQ(ToValues(Run1("EyeLike", {Tensor({kInt32, matrix})}, {type, matrix}, {{"k", k}})),
              Fill(matrix, [&](const Index& at) { return double(at[1] - at[0] == k); }));
    const Shape shape = AnyShape(random);
    EXPECT_EQ(ToValues(Run1("ConstantOfShape", {}, {type, shape},
                            {{"shape", Ints(shape)}, {"value", FromValues(type, {1}, {1})}})),
              Values(static_cast<std::size_t>(ElementCount(shape)), 1));
  });
}

TEST(GeneratorTest, RangesOfAnyLengthAndSign) {
  ForSeeds(80, [](std::mt19937& random) {
    const ElementType type = std::vector<ElementType>{kFloat32, kFloat64, kFloat16, kBFloat16,
                                                      kInt16,   kInt32,   kInt64}[random() % 7];
    const std::int64_t start = Draw(random, -50, 50);
    const std::int64_t limit = Draw(random, -50, 50);
    const std::int64_t delta = Draw(random, 1, 9) * (random() % 2 == 0 ? 1 : -1);
    Values wanted;
    for (std::int64_t x = start; delta > 0 ? x < limit : x > limit; x += delta) {
      wanted.push_back(static_cast<double>(x));
    }
    const auto bound = [&](std::int64_t value) -> AttributeValue {
      if (IsInteger(type)) return Ints{value};
      if (type == kFloat64) return FromValues(kFloat64, {}, {static_cast<double>(value)});
      return Floats{static_cast<float>(value)};
    };
    EXPECT_EQ(
        ToValues(Run1("Range", {}, {type, {static_cast<std::int64_t>(wanted.size())}},
                      {{"start", bound(start)}, {"limit", bound(limit)}, {"delta", bound(delta)}})),
        wanted);
  });
  const auto exact = [](double value) { return FromValues(kFloat64, {}, {value}); };
  EXPECT_EQ(ToValues(Run1("Range", {}, {kFloat64, {3}},
                          {{"start", exact(0.1)}, {"limit", exact(0.4)}, {"delta", exact(0.125)}})),
            (Values{0.1, 0.225, 0.35}));
}

}  // namespace
}  // namespace poprt::kernels::testing
