// Col2Im, MaxUnpool and DeformConv.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "runtime/kernels/kernel_test_index.hpp"
#include "runtime/kernels/vision/vision_shape.hpp"

namespace poprt::kernels::testing {
namespace {

using enum ElementType;

/// strides, dilations and pads of a random window.
Attributes RandomWindow(std::mt19937& random, std::size_t rank) {
  Ints strides, dilations, pads;
  for (std::size_t i = 0; i < rank; ++i) {
    strides.push_back(Draw(random, 1, 3));
    dilations.push_back(Draw(random, 1, 2));
  }
  for (std::size_t i = 0; i < 2 * rank; ++i) pads.push_back(Draw(random, 0, 2));
  return {{"strides", strides}, {"dilations", dilations}, {"pads", pads}};
}

TEST(Col2ImTest, AddsBlocksLikeTheReference) {
  constexpr ElementType kTypes[] = {kFloat32, kFloat64, kFloat16, kInt32, kUint8, kInt64};
  ForSeeds(100, [&](std::mt19937& random) {
    const std::size_t rank = 1 + random() % 4;
    Attributes attributes = RandomWindow(random, rank);
    Ints image, block;
    for (std::size_t i = 0; i < rank; ++i) {
      block.push_back(Draw(random, 1, rank < 4 ? 3 : 2));
      image.push_back(Draw(random, 5, rank < 4 ? 8 : 5));
    }
    attributes.set("image_shape", image);
    attributes.set("block_shape", block);
    const Window w = ResolveWindow(attributes, image, block);
    const Shape blocks = WindowOutputExtents(w, image, false);
    const std::int64_t n = Draw(random, random() % 10 == 0 ? 0 : 1, 2);
    const std::int64_t c = Draw(random, random() % 10 == 0 ? 0 : 1, 2);
    const ElementType type = kTypes[random() % 6];
    const std::int64_t taps = ElementCount(block);
    const Tensor data = RandomOperand(random, type, {n, c * taps, ElementCount(blocks)}, 0, 9);
    const Values x = ToValues(data);
    Shape out{n, c};
    out.insert(out.end(), image.begin(), image.end());
    EXPECT_EQ(ResolveBlocks(attributes, data.shape()).output, out);
    Values wanted(static_cast<std::size_t>(ElementCount(out)));
    for (std::int64_t plane = 0; plane < n * c; ++plane) {
      ForEach(block, [&](const Index& tap) {
        ForEach(blocks, [&](const Index& at) {
          Index to;
          bool inside = true;
          for (std::size_t d = 0; d < rank; ++d) {
            to.push_back(at[d] * w.strides[d] - w.pads_begin[d] + tap[d] * w.dilations[d]);
            inside = inside && to[d] >= 0 && to[d] < image[d];
          }
          if (!inside) return;
          const auto row = static_cast<std::size_t>(plane * taps) + Flat(block, tap);
          wanted[static_cast<std::size_t>(plane * ElementCount(image)) + Flat(image, to)] +=
              x[row * static_cast<std::size_t>(ElementCount(blocks)) + Flat(blocks, at)];
        });
      });
    }
    if (type == kUint8) {
      for (double& value : wanted) value = std::fmod(value, 256);
    }
    ExpectClose(Run1("Col2Im", {data}, {type, out}, attributes), wanted, 4, 30);
  });
}

TEST(Col2ImTest, RefusesWrongOperands) {
  const Attributes attributes{{"image_shape", Ints{5, 5}}, {"block_shape", Ints{1, 5}}};
  const TensorType out{kFloat32, {1, 1, 5, 5}};
  EXPECT_EQ(BindError("Col2Im", {{kFloat32, {1, 5, 5}}}, {out}, attributes), "");
  EXPECT_NE(BindError("Col2Im", {{kFloat32, {1, 5, 6}}}, {out}, attributes), "");
  EXPECT_NE(BindError("Col2Im", {{kFloat32, {1, 6, 5}}}, {out}, attributes), "");
  EXPECT_NE(BindError("Col2Im", {{kFloat32, {5, 5}}}, {out}, attributes), "");
  EXPECT_NE(BindError("Col2Im", {{kFloat32, {1, 5, 5}}}, {out}, {{"image_shape", Ints{5, 5}}}), "");
  EXPECT_NE(BindError("Col2Im", {{kFloat32, {1, 5, 5}}}, {out},
                      {{"image_shape", Ints{5, -5}}, {"block_shape", Ints{1, 5}}}),
            "");
}

TEST(MaxUnpoolTest, UndoesMaxPool) {
  constexpr ElementType kTypes[] = {kFloat32, kFloat64, kFloat16};
  ForSeeds(60, [&](std::mt19937& random) {
    const std::size_t rank = 1 + random() % 4;
    const ElementType type = kTypes[random() % 3];
    Shape shape{Draw(random, random() % 10 == 0 ? 0 : 1, 2), Draw(random, 1, 3)}, pooled = shape;
    Ints kernel;
    for (std::size_t i = 0; i < rank; ++i) {
      kernel.push_back(Draw(random, 1, 3));
      pooled.push_back(Draw(random, 1, rank < 4 ? 4 : 2));
      shape.push_back(kernel[i] * pooled[i + 2]);
    }
    const Attributes attributes{{"kernel_shape", kernel}, {"strides", kernel}};
    const Tensor data = RandomOperand(random, type, shape, 1, 2);
    const ElementType index = random() % 2 ? kInt32 : kInt64;
    const auto max = RunOnce("MaxPool", {data}, {{type, pooled}, {index, pooled}}, attributes);
    const Tensor found = Run1("MaxUnpool", max, {type, shape}, attributes);
    const Values values = ToValues(max[0]), where = ToValues(max[1]);
    Values wanted(static_cast<std::size_t>(ElementCount(shape)));
    for (std::size_t i = 0; i < values.size(); ++i) {
      wanted[static_cast<std::size_t>(where[i])] = values[i];
    }
    ExpectClose(found, wanted, 0);
    // A larger output holds the same in its first corner.
    Attributes larger = attributes;
    Shape out = shape;
    for (std::size_t i = 2; i < out.size(); ++i) out[i] += Draw(random, 0, 2);
    larger.set("output_shape", Ints(out));
    Values spread(static_cast<std::size_t>(ElementCount(out)));
    ForEach(shape, [&](const Index& at) { spread[Flat(out, at)] = wanted[Flat(shape, at)]; });
    ExpectClose(Run1("MaxUnpool", max, {type, out}, larger), spread, 0);
  });
}

TEST(MaxUnpoolTest, OfNothingIsZero) {
  const Attributes attributes{{"kernel_shape", Ints{2, 2}}, {"output_shape", Ints{1, 1, 2, 3}}};
  const Tensor data({kFloat32, {1, 1, 0, 2}}), indices({kInt64, {1, 1, 0, 2}});
  EXPECT_EQ(ToValues(Run1("MaxUnpool", {data, indices}, {kFloat32, {1, 1, 2, 3}}, attributes)),
            Values(6, 0.0));
}

TEST(MaxUnpoolTest, TakesIndicesOfOtherPlanesAndLeavesOutWrongOnes) {
  const Attributes attributes{{"kernel_shape", Ints{2}}, {"strides", Ints{2}}};
  const Tensor data = FromValues(kFloat32, {1, 2, 2}, {1, 2, 3, 4});
  const Tensor indices = FromValues(kInt64, {1, 2, 2}, {7, -1, 99, 4});
  EXPECT_EQ(ToValues(Run1("MaxUnpool", {data, indices}, {kFloat32, {1, 2, 4}}, attributes)),
            (Values{0, 0, 0, 0, 4, 0, 0, 1}));
}

TEST(MaxUnpoolTest, CountsInASmallerOutput) {
  const Attributes attributes{
      {"kernel_shape", Ints{3}}, {"strides", Ints{2}}, {"output_shape", Ints{1, 1, 4}}};
  const Tensor data = FromValues(kFloat32, {1, 1, 2}, {5, 6});
  EXPECT_EQ(ToValues(Run1("MaxUnpool", {data, FromValues(kInt64, {1, 1, 2}, {0, 3})},
                          {kFloat32, {1, 1, 4}}, attributes)),
            (Values{5, 0, 0, 6}));
  EXPECT_NE(BindError("MaxUnpool", {data.type(), {kInt64, {1, 1, 3}}}, {{kFloat32, {1, 1, 4}}},
                      attributes),
            "");
  EXPECT_NE(BindError("MaxUnpool", {data.type(), {kInt64, {1, 1, 2}}}, {{kFloat32, {1, 1, 4}}}),
            "");
}

struct DeformCase {
  Tensor data, weights, moves, bias, mask;
  Window window;
  std::int64_t groups = 1;
  std::int64_t offset_groups = 1;
  Shape output;
};

/// Linear interpolation between the pixels around a point; what lies outside is 0.
double Interpolate(const Values& x, std::size_t plane, const Shape& extents, const Values& point) {
  double sum = 0;
  ForEach(Shape(extents.size(), 2), [&](const Index& corner) {
    double weight = 1;
    Index at;
    for (std::size_t d = 0; d < extents.size(); ++d) {
      if (!(point[d] > -1 && point[d] < static_cast<double>(extents[d]))) return;
      const double low = std::floor(point[d]), t = point[d] - low;
      at.push_back(static_cast<std::int64_t>(low) + corner[d]);
      weight *= corner[d] == 0 ? 1 - t : t;
      if (at[d] < 0 || at[d] >= extents[d]) return;
    }
    sum += weight * x[plane + Flat(extents, at)];
  });
  return sum;
}

Values DeformReference(const DeformCase& c) {
  const Values x = ToValues(c.data), weights = ToValues(c.weights), moves = ToValues(c.moves);
  const Values bias = ToValues(c.bias), mask = ToValues(c.mask);
  const Shape extents(c.data.shape().begin() + 2, c.data.shape().end());
  const Shape spatial(c.output.begin() + 2, c.output.end());
  const auto rank = static_cast<std::int64_t>(extents.size());
  const std::int64_t taps = ElementCount(c.window.kernel), channels = c.data.shape()[1];
  const std::int64_t out_plane = ElementCount(spatial);
  return Fill(c.output, [&](const Index& at) {
    double sum = bias[static_cast<std::size_t>(at[1])];
    const std::int64_t group = at[1] / (c.output[1] / c.groups), depth = channels / c.groups;
    const auto p = static_cast<std::int64_t>(Flat(spatial, Index(at.begin() + 2, at.end())));
    for (std::int64_t k = 0; k < depth; ++k) {
      const std::int64_t channel = group * depth + k;
      const std::int64_t og = channel / (channels / c.offset_groups);
      ForEach(c.window.kernel, [&](const Index& tap) {
        const auto t = static_cast<std::int64_t>(Flat(c.window.kernel, tap));
        const std::int64_t row = (at[0] * c.offset_groups + og) * taps + t;
        Values point;
        for (std::int64_t d = 0; d < rank; ++d) {
          const auto i = static_cast<std::size_t>(d);
          point.push_back(static_cast<double>(at[i + 2] * c.window.strides[i] +
                                              tap[i] * c.window.dilations[i] -
                                              c.window.pads_begin[i]) +
                          moves[static_cast<std::size_t>((row * rank + d) * out_plane + p)]);
        }
        const auto plane =
            static_cast<std::size_t>((at[0] * channels + channel) * ElementCount(extents));
        sum += weights[static_cast<std::size_t>((at[1] * depth + k) * taps + t)] *
               mask[static_cast<std::size_t>(row * out_plane + p)] *
               Interpolate(x, plane, extents, point);
      });
    }
    return sum;
  });
}

TEST(DeformConvTest, ConvolvesLikeTheReference) {
  constexpr ElementType kTypes[] = {kFloat64, kFloat32};
  ForSeeds(80, [&](std::mt19937& random) {
    const std::size_t rank = 1 + random() % 4;
    const ElementType type = kTypes[random() % 2];
    Attributes attributes = RandomWindow(random, rank);
    const std::int64_t groups = Draw(random, 1, 2), offset_groups = Draw(random, 1, 2);
    attributes.set("group", groups);
    attributes.set("offset_group", offset_groups);
    Shape data{Draw(random, random() % 12 == 0 ? 0 : 1, 2), 2 * Draw(random, 1, 2)};
    Shape weights{groups * Draw(random, 1, 2), data[1] / groups};
    Ints kernel, extents;
    for (std::size_t i = 0; i < rank; ++i) {
      kernel.push_back(Draw(random, 1, rank < 4 ? 3 : 2));
      extents.push_back(rank < 4 ? Draw(random, 5, 7) : 3);
    }
    data.insert(data.end(), extents.begin(), extents.end());
    weights.insert(weights.end(), kernel.begin(), kernel.end());
    DeformCase c;
    c.groups = groups;
    c.offset_groups = offset_groups;
    c.window = ResolveWindow(attributes, extents, kernel);
    const Shape out = WindowOutputExtents(c.window, extents, false);
    const auto with = [&](std::int64_t channels) {
      Shape shape{data[0], channels};
      shape.insert(shape.end(), out.begin(), out.end());
      return shape;
    };
    const std::int64_t rows = offset_groups * ElementCount(kernel);
    c.output = with(weights[0]);
    // In float, a sample may lie on a pixel that it just misses in the reference.
    const auto operand = type == kFloat64 ? RandomOperand : RandomTensor;
    c.data = operand(random, type, data, -1, 1);
    c.weights = RandomTensor(random, type, weights, -1, 1);
    c.moves = operand(random, type, with(rows * static_cast<std::int64_t>(rank)), -3, 3);
    c.bias = RandomTensor(random, type, {weights[0]}, -1, 1);
    c.mask = operand(random, type, with(rows), -1, 1);
    ExpectClose(Run1("DeformConv", {c.data, c.weights, c.moves, c.bias, c.mask}, {type, c.output},
                     attributes),
                DeformReference(c), 64, 16);
  });
}

TEST(DeformConvTest, WithoutMovesIsAConvolution) {
  std::mt19937 random(7);
  for (const ElementType type : {kFloat32, kFloat64, kFloat16, kBFloat16}) {
    const Tensor data = RandomTensor(random, type, {2, 4, 9, 8}, -1, 1);
    const Tensor weights = RandomTensor(random, type, {6, 2, 3, 2}, -1, 1);
    const Attributes attributes{
        {"group", std::int64_t{2}}, {"pads", Ints{1, 0, 2, 1}}, {"strides", Ints{2, 1}}};
    const TensorType out{type, {2, 6, 5, 8}};
    const Tensor moves({type, {2, 12, 5, 8}});
    ExpectClose(Run1("DeformConv", {data, weights, moves}, out, attributes),
                ToValues(Run1("Conv", {data, weights}, out, attributes)), 8, 8);
  }
}

TEST(DeformConvTest, SamplesPositionsInBlocks) {
  std::mt19937 random(8);
  const Tensor data = RandomTensor(random, kFloat32, {1, 40, 21, 20}, -1, 1);
  const Tensor weights = RandomTensor(random, kFloat32, {35, 40, 3, 3}, -1, 1);
  const Attributes attributes{{"pads", Ints{1, 1, 1, 1}}};
  const TensorType out{kFloat32, {1, 35, 21, 20}};
  const Tensor moves({kFloat32, {1, 18, 21, 20}});
  ExpectClose(Run1("DeformConv", {data, weights, moves}, out, attributes),
              ToValues(Run1("Conv", {data, weights}, out, attributes)), 64, 8);
}

TEST(DeformConvTest, RefusesWrongOperands) {
  const TensorType data{kFloat32, {1, 2, 4, 4}}, weights{kFloat32, {3, 2, 2, 2}};
  const TensorType moves{kFloat32, {1, 8, 3, 3}}, out{kFloat32, {1, 3, 3, 3}};
  EXPECT_EQ(BindError("DeformConv", {data, weights, moves}, {out}), "");
  EXPECT_NE(BindError("DeformConv", {data, weights, {kFloat32, {1, 4, 3, 3}}}, {out}), "");
  EXPECT_NE(BindError("DeformConv", {data, weights, moves, {kFloat32, {2}}}, {out}), "");
  EXPECT_NE(BindError("DeformConv", {data, weights, moves, {}, moves}, {out}), "");
  EXPECT_NE(BindError("DeformConv", {data, weights, moves}, {out}, {{"offset_group", Ints{1}}}),
            "");
  EXPECT_NE(
      BindError("DeformConv", {data, weights, moves}, {out}, {{"offset_group", std::int64_t{3}}}),
      "");
}

}  // namespace
}  // namespace poprt::kernels::testing
