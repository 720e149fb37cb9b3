#pragma once

#include <array>
#include <string>
#include <vector>

#include "runtime/kernels/blocked/pack_blocked.hpp"
#include "runtime/kernels/blocked/winograd_conv2d.hpp"
#include "runtime/kernels/packed/packed_testing.hpp"

namespace poprt::kernels::testing {

struct WinogradCase {
  std::int64_t tile = 4;
  std::int64_t batch = 1;
  std::int64_t channels = 1;
  std::int64_t outs = 1;
  std::int64_t group = 1;
  std::int64_t height = 1;
  std::int64_t width = 1;
  Ints kernel{3, 3};
  Ints pads{1, 1, 1, 1};
  Ints dilations{1, 1};
  std::string activation = {};
  bool bias = false;
  bool residual = false;

  Shape OutputExtents() const {
    return {height + pads[0] + pads[2] - (kernel[0] - 1) * dilations[0],
            width + pads[1] + pads[3] - (kernel[1] - 1) * dilations[1]};
  }
  TensorType Output() const {
    const Shape out = OutputExtents();
    return {ElementType::kFloat32, {batch, BlocksOf(outs), out[0], out[1], kBlock}};
  }
  Attributes KernelAttributes() const {
    Attributes attributes = ActivationAttributes(activation);
    attributes.set("tile", tile);
    attributes.set("in_channels", channels);
    attributes.set("out_channels", outs);
    attributes.set("group", group);
    attributes.set("kernel_shape", kernel);
    attributes.set("pads", pads);
    attributes.set("dilations", dilations);
    return attributes;
  }
};

struct WinogradOperands {
  Tensor x;
  Tensor w;
  Tensor bias;
  Tensor residual;
};

inline WinogradOperands RandomOperands(Random& random, const WinogradCase& c) {
  const TensorType x{ElementType::kFloat32,
                     {c.batch, BlocksOf(c.channels), c.height, c.width, kBlock}};
  const TensorType bias{ElementType::kFloat32, {BlocksOf(c.outs) * kBlock}};
  return {.x = random.Values(x),
          .w = random.Values(
              {ElementType::kFloat32, {c.outs, c.channels / c.group, c.kernel[0], c.kernel[1]}}),
          .bias = c.bias ? random.Values(bias) : Tensor(),
          .residual = c.residual ? random.Values(c.Output()) : Tensor()};
}

/// Where channel `channel` of a pixel is in a blocked image.
inline std::size_t PixelAt(const Tensor& image, const std::array<std::int64_t, 4>& at) {
  const Shape& shape = image.shape();
  const std::int64_t block = at[0] * shape[1] + at[1] / kBlock;
  const std::int64_t pixel = (block * shape[2] + at[2]) * shape[3] + at[3];
  return static_cast<std::size_t>(pixel * kBlock + at[1] % kBlock);
}

/// Adds the products of one input channel.
inline void AddChannel(const WinogradCase& c, const Tensor& x, const float* filter,
                       const Index& out, std::int64_t channel, Expected& sum) {
  for (std::int64_t tap = 0; tap < c.kernel[0] * c.kernel[1]; ++tap) {
    const std::int64_t row = out[2] - c.pads[0] + tap / c.kernel[1] * c.dilations[0];
    const std::int64_t column = out[3] - c.pads[1] + tap % c.kernel[1] * c.dilations[1];
    if (row < 0 || row >= c.height || column < 0 || column >= c.width) continue;
    const double pixel = x.as<float>()[PixelAt(x, {out[0], channel, row, column})];
    sum.Add(pixel * filter[tap]);
  }
}

/// The convolution before its activation, in double, for the channels that are not spare, in the
/// order of [B, C, H, W].
inline std::vector<Expected> NaiveConv(const WinogradCase& c, const WinogradOperands& operands) {
  const Shape out = c.OutputExtents();
  std::vector<Expected> results;
  ForEach({c.batch, c.outs, out[0], out[1]}, [&](const Index& at) {
    Expected& sum = results.emplace_back();
    const std::int64_t depth = c.channels / c.group;
    const std::int64_t first = at[1] / (c.outs / c.group) * depth;
    const std::int64_t taps = c.kernel[0] * c.kernel[1];
    const float* filter = operands.w.as<float>().data() + at[1] * depth * taps;
    for (std::int64_t channel = first; channel < first + depth; ++channel, filter += taps) {
      AddChannel(c, operands.x, filter, at, channel, sum);
    }
    if (c.bias) sum.Add(operands.bias.as<float>()[static_cast<std::size_t>(at[1])]);
    if (c.residual)
      sum.Add(
          operands.residual.as<float>()[PixelAt(operands.residual, {at[0], at[1], at[2], at[3]})]);
  });
  return results;
}

}  // namespace poprt::kernels::testing
