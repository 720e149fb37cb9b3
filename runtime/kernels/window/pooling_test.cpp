#include "runtime/kernels/window/pooling.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "runtime/kernels/kernel_test_index.hpp"

namespace poprt::kernels::testing {
namespace {

using enum ElementType;

struct Reference {
  Values max, where, where_column_major, average, average_padded, norm1, norm3;
};

Reference Pool(const Tensor& data, const Window& w, const Shape& output) {
  Reference r;
  const Values x = ToValues(data);
  const Shape input(data.shape().begin() + 2, data.shape().end());
  const Shape reversed(input.rbegin(), input.rend());
  ForEach(output, [&](const Index& at) {
    double max = -std::numeric_limits<double>::infinity(), sum = 0, norm1 = 0, norm3 = 0;
    double where = -1, column_major = -1, inside = 0, padded = 0;
    ForEach(w.kernel, [&](const Index& tap) {
      Index from{at[0], at[1]};
      bool in = true, pad = true;
      for (std::size_t i = 0; i < tap.size(); ++i) {
        const std::int64_t p = at[i + 2] * w.strides[i] + tap[i] * w.dilations[i] - w.pads_begin[i];
        in = in && p >= 0 && p < input[i];
        pad = pad && p < input[i] + w.pads_end[i];
        from.push_back(p);
      }
      padded += pad ? 1 : 0;
      if (!in) return;
      inside += 1;
      const double value = x[Flat(data.shape(), from)];
      sum += value;
      norm1 += std::fabs(value);
      norm3 += std::pow(std::fabs(value), 3);
      // The first of the greatest; NaN is greater than all numbers.
      if (where < 0 || value > max || (std::isnan(value) && !std::isnan(max))) {
        max = value;
        where = static_cast<double>(Flat(data.shape(), from));
        const double plane = static_cast<double>(ElementCount(input));
        column_major = std::floor(where / plane) * plane +
                       static_cast<double>(Flat(reversed, Index(from.rbegin(), from.rend() - 2)));
      }
    });
    r.max.push_back(max);
    r.where.push_back(where);
    r.where_column_major.push_back(column_major);
    r.average.push_back(sum / std::max(1.0, inside));
    r.average_padded.push_back(sum / std::max(1.0, padded));
    r.norm1.push_back(norm1);
    r.norm3.push_back(std::cbrt(norm3));
  });
  return r;
}

TEST(PoolingTest, PoolsLikeTheReference) {
  constexpr ElementType kTypes[] = {kFloat32, kFloat64, kFloat16, kBFloat16};
  ForSeeds(120, [&](std::mt19937& random) {
    const std::size_t rank = 1 + random() % 4;
    Ints kernel, strides, dilations, pads(2 * rank);
    Shape shape{Draw(random, random() % 12 == 0 ? 0 : 1, 2),
                Draw(random, random() % 12 == 0 ? 0 : 1, 3)};
    for (std::size_t k = 0; k < rank; ++k) {
      const bool alone = k == 0 && random() % 4 == 0;  // every slice is a window
      kernel.push_back(alone ? 1 : Draw(random, 1, rank < 4 ? 4 : 2));
      strides.push_back(alone ? 1 : Draw(random, 1, 3));
      dilations.push_back(Draw(random, 1, 2));
      pads[k] = Draw(random, 0, kernel[k] - 1);
      pads[rank + k] = Draw(random, 0, kernel[k] - 1);
      const std::int64_t most = k + 1 == rank ? 40 : rank == 3 ? 8 : 11;
      shape.push_back(rank < 4 ? Draw(random, 7, most) : Draw(random, 3, 4));
    }
    const bool ceil = random() % 2 == 0;
    Attributes attributes{{"kernel_shape", kernel},
                          {"strides", strides},
                          {"dilations", dilations},
                          {"pads", pads},
                          {"ceil_mode", static_cast<std::int64_t>(ceil)}};
    const ElementType type = kTypes[random() % 4];
    const Tensor data = RandomOperand(random, type, shape, -1, 1);
    const Shape spatial(shape.begin() + 2, shape.end());
    const Window window = ResolveWindow(attributes, spatial, kernel);
    Shape output = WindowOutputExtents(window, spatial, ceil);
    output.insert(output.begin(), {shape[0], shape[1]});
    const TensorType out{type, output};
    const Reference r = Pool(data, window, output);

    ExpectClose(Run1("MaxPool", {data}, out, attributes), r.max, 0);
    const auto indexed = RunOnce("MaxPool", {data}, {out, {kInt64, output}}, attributes);
    ExpectClose(indexed[0], r.max, 0);
    EXPECT_EQ(ToValues(indexed[1]), r.where);
    attributes.set("storage_order", std::int64_t{1});
    EXPECT_EQ(ToValues(RunOnce("MaxPool", {data}, {out, {kInt32, output}}, attributes)[1]),
              r.where_column_major);
    ExpectClose(Run1("AveragePool", {data}, out, attributes), r.average, 4, 1);
    attributes.set("count_include_pad", std::int64_t{1});
    ExpectClose(Run1("AveragePool", {data}, out, attributes), r.average_padded, 4, 1);
    attributes.set("p", std::int64_t{1});
    ExpectClose(Run1("LpPool", {data}, out, attributes), r.norm1, 1);
    attributes.set("p", std::int64_t{3});
    ExpectClose(Run1("LpPool", {data}, out, attributes), r.norm3, 1);
  });
}

TEST(PoolingTest, PoolsIntegers) {
  EXPECT_EQ(ToValues(Run1("MaxPool", {FromValues(kInt8, {1, 1, 3}, {-7, -9, -8})},
                          {kInt8, {1, 1, 2}}, {{"kernel_shape", Ints{2}}})),
            (Values{-7, -8}));
}

TEST(PoolingTest, WindowsOfPaddingAloneAreNeutral) {
  const Attributes attributes{{"kernel_shape", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}};
  for (const Shape& shape : {Shape{1, 1, 0, 2}, Shape{1, 1, 2, 0}}) {
    Shape output = shape;
    output[2] += 1;
    output[3] += 1;
    const Tensor nothing({kFloat32, shape});
    EXPECT_EQ(ToValues(Run1("MaxPool", {nothing}, {kFloat32, output}, attributes)),
              Values(3, -std::numeric_limits<double>::infinity()));
    EXPECT_EQ(ToValues(Run1("AveragePool", {nothing}, {kFloat32, output}, attributes)),
              Values(3, 0));
  }
}

TEST(PoolingTest, RefusesNonsense) {
  const std::vector<TensorType> data{{kFloat32, {1, 1, 4}}};
  EXPECT_EQ(BindError("MaxPool", data, {{kFloat32, {1, 1, 4}}}),
            "attribute 'kernel_shape' is missing");
  EXPECT_EQ(BindError("AveragePool", data, {{kFloat32, {1, 1, 4}}}, {{"kernel_shape", Ints{2}}}),
            "output 0 is float32[1, 1, 4], expected float32[1, 1, 3]");
  EXPECT_EQ(BindError("MaxPool", data, {{kFloat32, {1, 1, 3}}, {kInt64, {1, 1, 4}}},
                      {{"kernel_shape", Ints{2}}}),
            "output 1 is int64[1, 1, 4], expected int64[1, 1, 3]");
  EXPECT_EQ(BindError("LpPool", data, {{kFloat32, {1, 1, 3}}},
                      {{"kernel_shape", Ints{2}}, {"p", std::int64_t{0}}}),
            "attribute 'p' is 0, allowed are 1 to 1048576");
  EXPECT_EQ(BindError("GlobalMaxPool", {{kFloat32, {1, 1, 0}}}, {{kFloat32, {1, 1, 1}}}),
            "input 0 is float32[1, 1, 0], which has nothing to pool");
}

}  // namespace
}  // namespace poprt::kernels::testing
