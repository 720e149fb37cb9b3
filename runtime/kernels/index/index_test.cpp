#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "runtime/kernels/kernel_test_tensors.hpp"
#include "runtime/kernels/reduction/axis_split.hpp"

namespace poprt::kernels {
namespace {

using testing::BindError;
using testing::FromValues;
using testing::RandomShape;
using testing::RandomTensor;
using testing::Run1;
using testing::ToValues;
using testing::Values;
using enum ElementType;

TEST(TopKTest, MatchesStableSort) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    const ElementType type =
        std::vector<ElementType>{kFloat32, kInt8, kFloat16, kUint64, kFloat64}[seed % 5];
    Shape shape = RandomShape(random, 4);
    if (shape.empty()) shape = {9};
    const std::size_t axis = random() % shape.size();
    const std::int64_t k = random() % static_cast<unsigned>(shape[axis] + 1);
    const bool largest = random() % 2 == 0;
    const Tensor x = RandomTensor(random, type, shape, 0, 9);
    SCOPED_TRACE("seed " + std::to_string(seed) + " " + ToString(x.type()));
    Shape output = shape;
    output[axis] = k;
    const auto found = RunOnce("TopK", {x}, {{type, output}, {kInt64, output}},
                               {{"k", Ints{k}},
                                {"axis", static_cast<std::int64_t>(axis)},
                                {"largest", std::int64_t{largest}}});
    const Values xs = ToValues(x);
    Values values(static_cast<std::size_t>(ElementCount(output)));
    Values indices(values.size());
    const AxisSplit split = SplitAt(shape, axis);
    for (std::int64_t line = 0; line < split.outer * split.inner; ++line) {
      const auto at = [&](std::int64_t i, std::int64_t length) {
        return static_cast<std::size_t>((line / split.inner * length + i) * split.inner +
                                        line % split.inner);
      };
      std::vector<std::int64_t> order(static_cast<std::size_t>(split.length));
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
        const double u = xs[at(a, split.length)];
        const double v = xs[at(b, split.length)];
        return largest ? u > v : u < v;
      });
      for (std::int64_t i = 0; i < k; ++i) {
        const std::int64_t from = order[static_cast<std::size_t>(i)];
        indices[at(i, k)] = static_cast<double>(from);
        values[at(i, k)] = xs[at(from, split.length)];
      }
    }
    EXPECT_EQ(ToValues(found[0]), values);
    EXPECT_EQ(ToValues(found[1]), indices);
    if (HasFailure()) return;
  }
}

TEST(TopKTest, NanIsTheGreatest) {
  const Tensor x = FromValues(kFloat32, {4}, {1, std::nan(""), 5, std::nan("")});
  const std::vector<TensorType> two{{kFloat32, {2}}, {kInt64, {2}}};
  EXPECT_EQ(ToValues(RunOnce("TopK", {x}, two, {{"k", Ints{2}}})[1]), (Values{1, 3}));
  EXPECT_EQ(ToValues(RunOnce("TopK", {x}, two, {{"k", Ints{2}}, {"largest", std::int64_t{0}}})[1]),
            (Values{0, 2}));
}

TEST(OneHotTest, IndicesWrapOrSelectNothing) {
  for (const ElementType type : {kInt64, kInt32, kFloat32, kInt8}) {
    const Tensor indices = FromValues(type, {4}, {1, -1, 3, -4});
    const Tensor values = FromValues(kFloat16, {2}, {2, 5});
    EXPECT_EQ(ToValues(Run1("OneHot", {indices, values}, {kFloat16, {4, 3}}, {{"depth", Ints{3}}})),
              (Values{2, 5, 2, 2, 2, 5, 2, 2, 2, 2, 2, 2}));
    EXPECT_EQ(ToValues(Run1("OneHot", {indices, values}, {kFloat16, {3, 4}},
                            {{"depth", Ints{3}}, {"axis", std::int64_t{0}}})),
              (Values{2, 2, 2, 2, 5, 2, 2, 2, 2, 5, 2, 2}));
  }
}

TEST(TriluTest, MatchesDefinition) {
  std::mt19937 random(2);
  for (const Shape& shape : {Shape{4, 5}, Shape{2, 3, 6, 4}, Shape{3, 0, 2}, Shape{2, 2, 0}}) {
    for (const ElementType type : {kFloat32, kBool, kInt64}) {
      const Tensor x = RandomTensor(random, type, shape, 1, 9);
      for (const std::int64_t k : {-9, -2, 0, 1, 7}) {
        for (const std::int64_t upper : {0, 1}) {
          SCOPED_TRACE(ToString(x.type()) + " k " + std::to_string(k));
          Values wanted = ToValues(x);
          for (std::size_t i = 0; i < wanted.size(); ++i) {
            const auto at = static_cast<std::int64_t>(i);
            const std::int64_t column = at % shape.back();
            const std::int64_t row = at / shape.back() % shape[shape.size() - 2];
            const bool keep = upper == 1 ? column - row >= k : column - row <= k;
            if (!keep) wanted[i] = 0;
          }
          EXPECT_EQ(ToValues(Run1("Trilu", {x}, x.type(), {{"k", Ints{k}}, {"upper", upper}})),
                    wanted);
        }
      }
    }
  }
  const Tensor x = FromValues(kInt8, {1, 1}, {3});
  EXPECT_EQ(ToValues(Run1("Trilu", {x}, x.type(),
                          {{"k", Ints{std::numeric_limits<std::int64_t>::max()}}})),
            (Values{0}));
}

TEST(GeneratorTest, Range) {
  const auto run = [](const TensorType& type, AttributeValue start, AttributeValue limit,
                      AttributeValue delta) {
    return ToValues(
        Run1("Range", {}, type, {{"start", start}, {"limit", limit}, {"delta", delta}}));
  };
  EXPECT_EQ(run({kFloat32, {2}}, Floats{1}, Floats{5}, Floats{2}), (Values{1, 3}));
  EXPECT_EQ(run({kInt32, {2}}, Ints{10}, Ints{6}, Ints{-3}), (Values{10, 7}));
  EXPECT_EQ(run({kInt64, {0}}, Ints{5}, Ints{5}, Ints{1}), (Values{}));
  EXPECT_EQ(run({kFloat64, {3}}, Ints{0}, Floats{1.25F}, Floats{0.5F}), (Values{0, 0.5, 1}));
  EXPECT_EQ(run({kInt64, {3}}, Ints{std::numeric_limits<std::int64_t>::min()},
                Ints{std::numeric_limits<std::int64_t>::max()}, Ints{0x7000000000000000}),
            (Values{-0x1p63, -0x1p60, 0x6p60}));
}

TEST(GeneratorTest, ConstantOfShapeAndEyeLike) {
  EXPECT_EQ(ToValues(Run1("ConstantOfShape", {}, {kFloat32, {2}}, {{"shape", Ints{2}}})),
            (Values{0, 0}));
  EXPECT_EQ(ToValues(Run1("ConstantOfShape", {}, {kInt16, {2, 1}},
                          {{"shape", Ints{2, 1}}, {"value", FromValues(kInt16, {1}, {-7})}})),
            (Values{-7, -7}));
  const Tensor like({kInt32, {2, 3}});
  EXPECT_EQ(ToValues(Run1("EyeLike", {like}, {kFloat16, {2, 3}}, {{"k", std::int64_t{1}}})),
            (Values{0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(ToValues(Run1("EyeLike", {like}, {kBool, {2, 3}}, {{"k", std::int64_t{-1}}})),
            (Values{0, 0, 0, 1, 0, 0}));
}

TEST(IndexTest, BindErrors) {
  const TensorType x{kFloat32, {2, 3}};
  EXPECT_EQ(BindError("TopK", {x}, {x, x}, {{"k", Ints{4}}}),
            "attribute 'k' is 4, allowed are 0 to 3");
  EXPECT_EQ(BindError("TopK", {x}, {x, x}, {{"k", Ints{3}}}),
            "output 1 is float32[2, 3], expected int64[2, 3]");
  EXPECT_EQ(BindError("OneHot", {x, x}, {x}, {{"depth", Ints{3}}}),
            "input 1 is float32[2, 3], expected float32[2]");
  EXPECT_EQ(BindError("Trilu", {{kFloat32, {3}}}, {{kFloat32, {3}}}),
            "input 0 is float32[3], expected at least 2 dimensions");
  EXPECT_EQ(
      BindError("Range", {}, {x}, {{"start", Ints{0}}, {"limit", Ints{3}}, {"delta", Ints{0}}}),
      "attribute 'delta' is 0");
  EXPECT_EQ(
      BindError("Range", {}, {x}, {{"start", Ints{0}}, {"limit", Ints{3}}, {"delta", Ints{1}}}),
      "output 0 is float32[2, 3], expected float32[3]");
  EXPECT_EQ(BindError("ConstantOfShape", {}, {x}, {{"shape", Ints{-1}}}),
            "output 0 is float32[2, 3], expected float32[-1]");
}

}  // namespace
}  // namespace poprt::kernels
