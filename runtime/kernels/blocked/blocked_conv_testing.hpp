#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "runtime/kernels/blocked/blocked_testing.hpp"
#include "runtime/kernels/blocked/pack_blocked.hpp"
#include "runtime/kernels/packed/scaled_panels.hpp"

/// What the tests of the direct convolutions of blocked images share: a case, its naive result in
/// double, random cases.
namespace poprt::kernels::testing {

enum class Form { kBlocked, kPlanes, kPointwise, kDepthwise };

struct ConvCase {
  Form form = Form::kBlocked;
  std::int64_t batch = 1;
  std::int64_t group = 1;
  std::int64_t channels = 1;  ///< input channels of a group
  std::int64_t outs = 1;      ///< output channels of a group
  std::int64_t height = 1;
  std::int64_t width = 1;
  Ints kernel{1, 1};
  Ints strides{1, 1};
  Ints dilations{1, 1};
  Ints pads{0, 0, 0, 0};
  std::string activation = {};
  bool bias = false;
  bool residual = false;
  bool channels_last = false;  ///< of the result of Form::kPointwise
  bool half_weights = false;
  bool scaled_weights = false;  ///< float32 of few bits, which as scaled panels lose nothing
  Ints order = {};              ///< of the input channels
  bool specials = false;        ///< NaN and infinities everywhere but in the weights
};

struct Operands {
  Values x;
  Shape x_shape;
  Values w;
  Values bias;
  Values residual;
};

inline double InputAt(const Operands& operands, const BlockedPosition& at) {
  if (operands.x_shape.size() == 5) return operands.x[at.In(operands.x_shape)];
  const Index index{at.image, at.channel, at.row, at.column};
  return operands.x[Flat(operands.x_shape, index)];
}

inline Expected NaiveSum(const ConvCase& c, const Operands& operands, const Shape& spatial,
                         const BlockedPosition& out) {
  Expected sum;
  const Shape w_shape{c.group * c.outs, c.channels, c.kernel[0], c.kernel[1]};
  ForEach({c.channels, c.kernel[0], c.kernel[1]}, [&](const Index& tap) {
    const std::int64_t row = out.row * c.strides[0] - c.pads[0] + tap[1] * c.dilations[0];
    const std::int64_t column = out.column * c.strides[1] - c.pads[1] + tap[2] * c.dilations[1];
    if (row < 0 || row >= spatial[0] || column < 0 || column >= spatial[1]) return;
    const std::int64_t channel_of_conv = out.channel / c.outs * c.channels + tap[0];
    const std::int64_t channel =
        c.order.empty() ? channel_of_conv : c.order[static_cast<std::size_t>(channel_of_conv)];
    sum.Add(InputAt(operands, {out.image, channel, row, column}) *
            operands.w[Flat(w_shape, {out.channel, tap[0], tap[1], tap[2]})]);
  });
  return sum;
}

/// Spare lanes may get any value.
inline std::vector<Expected> NaiveConv(const ConvCase& c, const Operands& operands,
                                       const Shape& y) {
  std::vector<Expected> expected;
  for (std::int64_t i = 0; i < ElementCount(y); ++i) {
    const BlockedPosition out = BlockedPosition::Of(i, y);
    if (out.channel >= c.group * c.outs) {
      expected.push_back({.is_any = true});
      continue;
    }
    Expected& sum = expected.emplace_back(NaiveSum(c, operands, {c.height, c.width}, out));
    if (c.bias) sum.Add(operands.bias[static_cast<std::size_t>(out.channel)]);
    if (c.residual) sum.Add(operands.residual[static_cast<std::size_t>(i)]);
  }
  return expected;
}

inline Attributes AttributesOf(const ConvCase& c) {
  Attributes attributes = ActivationAttributes(c.activation);
  attributes.set("kernel_shape", c.kernel);
  attributes.set("strides", c.strides);
  attributes.set("dilations", c.dilations);
  attributes.set("pads", c.pads);
  attributes.set("group", c.group);
  if (!c.order.empty()) attributes.set("channel_order", c.order);
  if (c.channels_last) attributes.set("channels_last", std::int64_t{1});
  attributes.set("in_channels", c.group * c.channels);
  attributes.set("out_channels", c.group * c.outs);
  return attributes;
}

/// Random numbers, `spare` in the spare lanes behind `channels`.
inline Tensor RandomBlocked(Random& random, const TensorType& type, std::int64_t channels,
                            bool specials, float spare) {
  Tensor image = random.Values(type, specials);
  const auto values = image.as_mutable<float>();
  for (std::int64_t i = 0; i < image.count(); ++i) {
    if (BlockedPosition::Of(i, type.shape).channel < channels) continue;
    values[static_cast<std::size_t>(i)] = spare;
  }
  return image;
}

/// The same values, [B, H, W, C] instead of in blocks.
inline std::vector<Expected> ChannelsLast(const std::vector<Expected>& blocked,
                                          const TensorType& from, const TensorType& to) {
  std::vector<Expected> last;
  ForEach(to.shape, [&](const Index& i) {
    last.push_back(blocked[BlockedPosition{i[0], i[3], i[1], i[2]}.In(from.shape)]);
  });
  return last;
}

/// Multiples of 2^-10, which scaled panels hold.
inline void RoundToFewBits(Tensor& w) {
  for (float& x : w.as_mutable<float>()) x = std::nearbyint(x * 0x1p10F) * 0x1p-10F;
}

inline void CheckConv(Random& random, const ConvCase& c) {
  const std::int64_t ins = c.group * c.channels;
  const std::int64_t outs = c.group * c.outs;
  const Attributes attributes = AttributesOf(c);
  const Shape spatial{c.height, c.width};
  const Shape out =
      WindowOutputExtents(ResolveWindow(attributes, spatial, c.kernel), spatial, false);
  const TensorType y = BlockedImageType(c.batch, outs, out[0], out[1]);
  const ElementType stored = c.half_weights ? ElementType::kFloat16 : ElementType::kFloat32;
  // A depthwise convolution keeps spare lanes, others must not read them.
  const float spare = c.form == Form::kDepthwise ? 7.0F : std::nanf("");
  const Tensor x =
      c.form == Form::kPlanes
          ? random.Values({ElementType::kFloat32, {c.batch, ins, c.height, c.width}}, c.specials)
          : RandomBlocked(random, BlockedImageType(c.batch, ins, c.height, c.width), ins,
                          c.specials, spare);
  Tensor w = random.Values({stored, {outs, c.channels, c.kernel[0], c.kernel[1]}});
  if (c.scaled_weights) RoundToFewBits(w);
  const Tensor bias =
      c.bias ? random.Values({ElementType::kFloat32, {outs}}, c.specials) : Tensor();
  const Tensor packed_bias = c.bias ? PackBlockedBias(bias) : Tensor();
  const Tensor residual = c.residual ? RandomBlocked(random, y, outs, c.specials, 0.5F) : Tensor();
  const auto expected =
      NaiveConv(c, {Doubles(x), x.shape(), Doubles(w), Doubles(bias), Doubles(residual)}, y.shape);
  switch (c.form) {
    case Form::kBlocked:
      return ExpectPacked(BindBlocked<BindBlockedConv2d>,
                          {x,
                           c.scaled_weights ? PackScaledBlockedConv2dWeights(w, c.group).value()
                                            : PackBlockedConv2dWeights(w, c.group, stored),
                           packed_bias, residual},
                          y, attributes, expected);
    case Form::kPlanes:
      return ExpectPacked(BindBlocked<BindBlockedConv2dPlanes>,
                          {x, PackBlockedPlanesWeights(w, stored), packed_bias, residual}, y,
                          attributes, expected);
    case Form::kPointwise: {
      Tensor packed = PackBlockedPointwiseWeights(w, c.group, stored);
      if (c.scaled_weights) packed = ScalePanels(packed).value();
      if (c.channels_last) {
        const TensorType last{ElementType::kFloat32, {c.batch, out[0], out[1], outs}};
        return ExpectPacked(BindBlocked<BindBlockedPointwiseConv2d>, {x, packed, packed_bias}, last,
                            attributes, ChannelsLast(expected, y, last));
      }
      return ExpectPacked(BindBlocked<BindBlockedPointwiseConv2d>,
                          {x, packed, packed_bias, residual}, y, attributes, expected);
    }
    case Form::kDepthwise:
      return ExpectPacked(BindBlocked<BindBlockedDepthwiseConv2d>,
                          {x, PackBlockedDepthwiseWeights(w, stored), packed_bias, residual}, y,
                          attributes, expected);
  }
}

/// Random geometry whose output is not empty, with the activations in turn.
inline ConvCase RandomCase(Random& random, Form form) {
  static std::size_t turn = 0;
  ConvCase c;
  c.form = form;
  c.batch = random.Int(1, 2);
  c.kernel = {random.Int(1, 4), random.Int(1, 4)};
  c.strides = {random.Int(1, 3), random.Int(1, 3)};
  c.dilations = {random.Int(1, 2), random.Int(1, 2)};
  c.pads = {random.Int(0, 3), random.Int(0, 3), random.Int(0, 3), random.Int(0, 3)};
  c.height = random.Int(8, 14);
  c.width = random.Int(8, 20);
  c.activation = AllActivations()[turn++ % AllActivations().size()];
  c.bias = random.Flip();
  c.residual = random.Flip();
  c.half_weights = random.Flip();
  const bool has_panels = form == Form::kBlocked || form == Form::kPointwise;
  c.scaled_weights = has_panels && !c.half_weights && random.Flip();
  return c;
}

inline void ChooseChannels(Random& random, ConvCase& c) {
  if (c.form == Form::kPlanes) {
    c.channels = random.Int(1, 5);
    c.outs = random.Int(1, 40);
  } else if (c.form == Form::kDepthwise) {
    c.group = random.Int(1, 40);
  } else if (random.Int(0, 3) == 0) {
    c.group = random.Int(2, 3);
    c.channels = 16 * random.Int(1, 2);
    c.outs = 16 * random.Int(1, 2);
  } else {
    c.channels = random.Int(1, 70);
    c.outs = random.Int(1, 40);
  }
}

inline void CheckRandomCases(Form form, unsigned count, bool specials) {
  ForSeeds(count, [&](std::mt19937& seeds) {
    Random random(seeds());
    ConvCase c = RandomCase(random, form);
    ChooseChannels(random, c);
    c.specials = specials;
    if (specials) c.activation = "";
    CheckConv(random, c);
  });
}

inline KernelCall CallOf(const ConvCase& c, const TensorType& x, const TensorType& w) {
  const Attributes attributes = AttributesOf(c);
  const Shape spatial{c.height, c.width};
  const Shape out =
      WindowOutputExtents(ResolveWindow(attributes, spatial, c.kernel), spatial, false);
  return {.inputs = {x, w},
          .outputs = {BlockedImageType(c.batch, c.group * c.outs, out[0], out[1])},
          .attributes = attributes};
}

}  // namespace poprt::kernels::testing
