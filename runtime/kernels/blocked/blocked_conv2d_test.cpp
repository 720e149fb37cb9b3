#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "runtime/kernels/blocked/blocked_testing.hpp"
#include "runtime/kernels/blocked/pack_blocked.hpp"

namespace poprt::kernels::testing {
namespace {

using ::testing::HasSubstr;

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
  Ints order = {};        ///< of the input channels
  bool specials = false;  ///< NaN and infinities everywhere but in the weights
};

struct Operands {
  Values x;
  Shape x_shape;
  Values w;
  Values bias;
  Values residual;
};

double InputAt(const Operands& operands, const BlockedPosition& at) {
  if (operands.x_shape.size() == 5) return operands.x[at.In(operands.x_shape)];
  const Index index{at.image, at.channel, at.row, at.column};
  return operands.x[Flat(operands.x_shape, index)];
}

Expected NaiveSum(const ConvCase& c, const Operands& operands, const Shape& spatial,
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

/// Spare lanes have no inputs and no bias.
std::vector<Expected> NaiveConv(const ConvCase& c, const Operands& operands, const Shape& y) {
  std::vector<Expected> expected;
  for (std::int64_t i = 0; i < ElementCount(y); ++i) {
    const BlockedPosition out = BlockedPosition::Of(i, y);
    const bool spare = out.channel >= c.group * c.outs;
    Expected& sum =
        expected.emplace_back(spare ? Expected() : NaiveSum(c, operands, {c.height, c.width}, out));
    if (c.bias && !spare) sum.Add(operands.bias[static_cast<std::size_t>(out.channel)]);
    if (c.residual) sum.Add(operands.residual[static_cast<std::size_t>(i)]);
  }
  return expected;
}

Attributes AttributesOf(const ConvCase& c) {
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
Tensor RandomBlocked(Random& random, const TensorType& type, std::int64_t channels, bool specials,
                     float spare) {
  Tensor image = random.Values(type, specials);
  const auto values = image.as_mutable<float>();
  for (std::int64_t i = 0; i < image.count(); ++i) {
    if (BlockedPosition::Of(i, type.shape).channel < channels) continue;
    values[static_cast<std::size_t>(i)] = spare;
  }
  return image;
}

/// The same values, [B, H, W, C] instead of in blocks.
std::vector<Expected> ChannelsLast(const std::vector<Expected>& blocked, const TensorType& from,
                                   const TensorType& to) {
  std::vector<Expected> last;
  ForEach(to.shape, [&](const Index& i) {
    last.push_back(blocked[BlockedPosition{i[0], i[3], i[1], i[2]}.In(from.shape)]);
  });
  return last;
}

void CheckConv(Random& random, const ConvCase& c) {
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
  const Tensor w = random.Values({stored, {outs, c.channels, c.kernel[0], c.kernel[1]}});
  const Tensor bias =
      c.bias ? random.Values({ElementType::kFloat32, {outs}}, c.specials) : Tensor();
  const Tensor packed_bias = c.bias ? PackBlockedBias(bias) : Tensor();
  const Tensor residual = c.residual ? RandomBlocked(random, y, outs, c.specials, 0.5F) : Tensor();
  const auto expected =
      NaiveConv(c, {Doubles(x), x.shape(), Doubles(w), Doubles(bias), Doubles(residual)}, y.shape);
  switch (c.form) {
    case Form::kBlocked:
      return ExpectPacked(BindBlocked<BindBlockedConv2d>,
                          {x, PackBlockedConv2dWeights(w, c.group, stored), packed_bias, residual},
                          y, attributes, expected);
    case Form::kPlanes:
      return ExpectPacked(BindBlocked<BindBlockedConv2dPlanes>,
                          {x, PackBlockedPlanesWeights(w, stored), packed_bias, residual}, y,
                          attributes, expected);
    case Form::kPointwise:
      if (c.channels_last) {
        const TensorType last{ElementType::kFloat32, {c.batch, out[0], out[1], outs}};
        return ExpectPacked(BindBlocked<BindBlockedPointwiseConv2d>,
                            {x, PackBlockedPointwiseWeights(w, c.group, stored), packed_bias}, last,
                            attributes, ChannelsLast(expected, y, last));
      }
      return ExpectPacked(
          BindBlocked<BindBlockedPointwiseConv2d>,
          {x, PackBlockedPointwiseWeights(w, c.group, stored), packed_bias, residual}, y,
          attributes, expected);
    case Form::kDepthwise:
      return ExpectPacked(BindBlocked<BindBlockedDepthwiseConv2d>,
                          {x, PackBlockedDepthwiseWeights(w, stored), packed_bias, residual}, y,
                          attributes, expected);
  }
}

/// Random geometry whose output is not empty, with the activations in turn.
ConvCase RandomCase(Random& random, Form form) {
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
  return c;
}

void ChooseChannels(Random& random, ConvCase& c) {
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

void CheckRandomCases(Form form, unsigned count, bool specials) {
  ForSeeds(count, [&](std::mt19937& seeds) {
    Random random(seeds());
    ConvCase c = RandomCase(random, form);
    ChooseChannels(random, c);
    c.specials = specials;
    if (specials) {
      c.activation = "";
      // An infinity times the zero weights of a spare lane would be NaN there.
      if (form != Form::kDepthwise) c.outs = (c.outs + 15) / 16 * 16;
    }
    CheckConv(random, c);
  });
}

TEST(BlockedConv2d, AgreesWithNaiveConvolutionOnRandomSizes) {
  CheckRandomCases(Form::kBlocked, 40, false);
}

TEST(BlockedPlanes, AgreesWithNaiveConvolutionOnRandomSizes) {
  CheckRandomCases(Form::kPlanes, 40, false);
}

TEST(BlockedDepthwise, AgreesWithNaiveConvolutionOnRandomSizes) {
  CheckRandomCases(Form::kDepthwise, 60, false);
}

TEST(BlockedDepthwise, AgreesOnLinesOfAnyLength) {
  ForSeeds(200, [](std::mt19937& seeds) {
    Random random(seeds());
    ConvCase c = RandomCase(random, Form::kDepthwise);
    const std::int64_t taps = 3 + 2 * random.Int(0, 2);
    c.kernel = {random.Flip() ? taps : random.Int(1, 8), taps};
    c.dilations = {random.Int(1, 2), 1};
    c.strides = {random.Int(1, 2), random.Int(1, 2)};
    c.pads = {random.Int(0, 2), random.Int(0, taps / 2), random.Int(0, 2), random.Int(0, taps / 2)};
    c.group = random.Int(1, 20);
    c.height = (c.kernel[0] - 1) * c.dilations[0] + random.Int(1, 4);
    c.width = random.Int(taps - c.pads[1] - c.pads[3], 40);
    c.specials = c.activation.empty();
    CheckConv(random, c);
  });
}

/// A random convolution of single pixels in groups, its input channels in any order.
ConvCase RandomPointwiseCase(Random& random) {
  ConvCase c = RandomCase(random, Form::kPointwise);
  c.kernel = c.strides = c.dilations = {1, 1};
  c.pads = {0, 0, 0, 0};
  c.group = random.Int(1, 5);
  c.channels = random.Int(1, 40);
  c.outs = random.Int(1, 40);
  if (random.Flip()) return c;
  for (std::int64_t i = 0; i < c.group * c.channels; ++i) {
    c.order.insert(c.order.begin() + random.Int(0, i), i);
  }
  return c;
}

TEST(BlockedPointwise, AgreesWithNaiveConvolutionOnRandomSizes) {
  ForSeeds(30, [](std::mt19937& seeds) {
    Random random(seeds());
    CheckConv(random, RandomPointwiseCase(random));
  });
}

TEST(BlockedPointwise, WritesChannelsLast) {
  ForSeeds(30, [](std::mt19937& seeds) {
    Random random(seeds());
    ConvCase c = RandomPointwiseCase(random);
    c.residual = false;
    c.channels_last = true;
    CheckConv(random, c);
  });
  // Blocks that are turned in several pieces, of strips that are copied.
  Random random(13);
  CheckConv(random, {.form = Form::kPointwise,
                     .batch = 2,
                     .channels = 150,
                     .outs = 300,
                     .height = 32,
                     .width = 32,
                     .activation = "sigmoid",
                     .bias = true,
                     .channels_last = true});
}

TEST(BlockedPointwise, NanAndInfinitiesStayInTheirGroup) {
  ForSeeds(10, [](std::mt19937& seeds) {
    Random random(seeds());
    ConvCase c = RandomPointwiseCase(random);
    c.activation = "";
    c.specials = true;
    c.group = 4;
    c.outs = 4 * random.Int(1, 10);  // no spare lanes, which may become NaN
    c.order.clear();
    CheckConv(random, c);
  });
}

TEST(BlockedPointwise, AgreesWhenPixelsAndBlocksAreCut) {
  Random random(8);
  CheckConv(random, {.form = Form::kPointwise,
                     .group = 4,
                     .channels = 34,
                     .outs = 34,
                     .height = 28,
                     .width = 28,
                     .activation = "relu",
                     .bias = true,
                     .residual = true});
  CheckConv(random, {.form = Form::kPointwise,
                     .group = 3,
                     .channels = 136,
                     .outs = 136,
                     .height = 7,
                     .width = 7,
                     .bias = true});
}

/// A softmax behind them tells large numbers that differ in the last bit apart.
TEST(BlockedPointwise, ChannelsWithEqualWeightsAreEqual) {
  constexpr std::int64_t kIns = 100;
  constexpr std::int64_t kOuts = 24;  // the last block is a half
  Random random(9);
  const Tensor x = random.Values(BlockedImageType(1, kIns, 7, 7));
  const Tensor row = random.Values({ElementType::kFloat32, {kIns}});
  Tensor w({ElementType::kFloat32, {kOuts, kIns, 1, 1}});
  for (std::int64_t o = 0; o < kOuts; ++o) {
    std::ranges::copy(row.as<float>(), w.as_mutable<float>().begin() + o * kIns);
  }
  for (const InnerLoops* loops : AllInnerLoops()) {
    SCOPED_TRACE(loops->instruction_set);
    const Tensor y = RunPacked(
        BindBlocked<BindBlockedPointwiseConv2d>, {x, PackBlockedPointwiseWeights(w, 1)},
        BlockedImageType(1, kOuts, 7, 7),
        {{"in_channels", kIns}, {"out_channels", kOuts}, {"kernel_shape", Ints{1, 1}}}, *loops);
    const auto values = y.as<float>();
    for (std::int64_t i = 0; i < y.count(); ++i) {
      const BlockedPosition at = BlockedPosition::Of(i, y.shape());
      if (at.channel >= kOuts) continue;
      const BlockedPosition first{at.image, 0, at.row, at.column};
      ASSERT_EQ(values[static_cast<std::size_t>(i)], values[first.In(y.shape())])
          << "channel " << at.channel;
    }
  }
}

TEST(BlockedConv2d, NanAndInfinitiesReachOnlyWhatTheyTouch) {
  CheckRandomCases(Form::kBlocked, 6, true);
  CheckRandomCases(Form::kPlanes, 6, true);
  CheckRandomCases(Form::kDepthwise, 6, true);
}

/// As PackedGemm.HasTheSameBitsWithAllLoopsThatRound; portable loops compute single pixels.
TEST(BlockedPointwise, HasTheSameBitsWithAllVectorLoops) {
  constexpr std::int64_t kChannels = 37;
  Random random(12);
  const Tensor w = random.Values({ElementType::kFloat32, {kChannels, kChannels, 1, 1}});
  const auto supported = SupportedInnerLoops();
  for (std::int64_t pixels = 1; pixels <= 40; ++pixels) {
    const TensorType type = BlockedImageType(1, kChannels, 1, pixels);
    const Tensor x = random.Values(type);
    const auto bits = [&](const InnerLoops& loops) {
      const Tensor y = RunPacked(
          BindBlocked<BindBlockedPointwiseConv2d>, {x, PackBlockedPointwiseWeights(w, 1)}, type,
          {{"in_channels", kChannels}, {"out_channels", kChannels}, {"kernel_shape", Ints{1, 1}}},
          loops);
      return std::vector<float>(y.as<float>().begin(), y.as<float>().end());
    };
    for (std::size_t i = 2; i < supported.size(); ++i) {
      EXPECT_EQ(bits(*supported[1]), bits(*supported[i])) << pixels;
    }
  }
}

TEST(BlockedPointwise, RejectsAResidualWithChannelsLast) {
  const TensorType x = BlockedImageType(1, 20, 3, 4);
  const TensorType y{ElementType::kFloat32, {1, 3, 4, 20}};
  const Attributes attributes{{"channels_last", std::int64_t{1}},
                              {"in_channels", std::int64_t{20}},
                              {"kernel_shape", Ints{1, 1}},
                              {"out_channels", std::int64_t{20}}};
  const TensorType w = PackedBlockedPointwiseType(20, 20, 1, ElementType::kFloat32);
  const auto bind = [&](const TensorType& residual) {
    return BindBlocked<BindBlockedPointwiseConv2d>(
        {{x, w, TensorType{}, residual}, {y}, attributes}, SixteenLaneLoops());
  };
  EXPECT_NO_THROW(bind(TensorType{}));
  EXPECT_THROW(bind(y), KernelError);
}

/// Blocks that begin at the same place of the cache are copied first.
TEST(BlockedPointwise, AgreesOnSidesThatArePowersOfTwo) {
  Random random(8);
  for (const char* activation : {"", "silu"}) {
    CheckConv(random, {.form = Form::kPointwise,
                       .batch = 2,
                       .channels = 150,
                       .outs = 70,
                       .height = 32,
                       .width = 32,
                       .activation = activation,
                       .bias = true,
                       .residual = true});
  }
}

TEST(BlockedConv2d, AgreesOnPointwiseConvolutionsOfSmallImages) {
  ForSeeds(20, [&](std::mt19937& seeds) {
    Random random(seeds());
    CheckConv(random, {.batch = random.Int(1, 2),
                       .channels = random.Int(1, 400),
                       .outs = random.Int(1, 40),
                       .height = random.Int(1, 5),
                       .width = random.Int(1, 5),
                       .bias = true,
                       .residual = random.Flip()});
  });
}

TEST(BlockedConv2d, AgreesWhenPanelsStripsAndChannelsAreCut) {
  Random random(5);
  CheckConv(random, {.channels = 100,
                     .outs = 150,
                     .height = 7,
                     .width = 7,
                     .kernel = {3, 3},
                     .pads = {1, 1, 1, 1},
                     .activation = "relu",
                     .bias = true,
                     .residual = true});
  CheckConv(random, {.channels = 36,
                     .outs = 20,
                     .height = 40,
                     .width = 41,
                     .kernel = {3, 3},
                     .pads = {1, 1, 1, 1},
                     .bias = true});
  CheckConv(random, {.channels = 330, .outs = 24, .height = 30, .width = 31, .activation = "silu"});
}

TEST(BlockedPlanes, AgreesOnFirstLayersOfNetworks) {
  Random random(6);
  CheckConv(random, {.form = Form::kPlanes,
                     .channels = 3,
                     .outs = 24,
                     .height = 40,
                     .width = 45,
                     .kernel = {7, 7},
                     .strides = {2, 2},
                     .pads = {3, 3, 3, 3},
                     .activation = "relu",
                     .bias = true});
  CheckConv(random, {.form = Form::kPlanes,
                     .channels = 3,
                     .outs = 7,
                     .height = 50,
                     .width = 51,
                     .kernel = {11, 11},
                     .strides = {4, 4}});
}

TEST(BlockedConv2d, PaddingMayBeWiderThanTheImage) {
  Random random(7);
  CheckConv(random, {.form = Form::kPointwise, .batch = 0, .height = 3, .width = 3});
  for (const Form form : {Form::kBlocked, Form::kPlanes, Form::kDepthwise}) {
    CheckConv(random, {.form = form,
                       .height = 2,
                       .width = 3,
                       .kernel = {2, 2},
                       .strides = {1, 2},
                       .pads = {4, 20, 3, 5},
                       .bias = true});
    // No pixel at all.
    CheckConv(random, {.form = form, .height = 0, .width = 3, .pads = {1, 1, 2, 0}, .bias = true});
    CheckConv(random, {.form = form, .batch = 0, .height = 3, .width = 3});
  }
}

KernelCall CallOf(const ConvCase& c, const TensorType& x, const TensorType& w) {
  const Attributes attributes = AttributesOf(c);
  const Shape spatial{c.height, c.width};
  const Shape out =
      WindowOutputExtents(ResolveWindow(attributes, spatial, c.kernel), spatial, false);
  return {.inputs = {x, w},
          .outputs = {BlockedImageType(c.batch, c.group * c.outs, out[0], out[1])},
          .attributes = attributes};
}

TEST(BlockedConv2d, BindRejectsWhatDoesNotFit) {
  constexpr auto kBind = BindBlocked<BindBlockedConv2d>;
  const ConvCase c{.channels = 20, .outs = 33, .height = 8, .width = 8, .kernel = {3, 3}};
  const KernelCall good =
      CallOf(c, BlockedImageType(1, 20, 8, 8), PackedBlockedConv2dType(33, 20, 9, 1));
  EXPECT_EQ(BindError(kBind, good), "");
  KernelCall call = good;
  call.attributes.set("group", std::int64_t{2});
  EXPECT_THAT(BindError(kBind, call), HasSubstr("must be multiples of group (2)"));
  call = good;
  call.attributes.set("kernel_shape", Ints{3, 2});
  EXPECT_EQ(BindError(kBind, call),
            "the weights, input 1, is float32[1, 3, 2, 9, 16, 16], expected float32[1, 3, 2, 6, "
            "16, 16]");
  call = good;
  call.attributes.set("in_channels", std::int64_t{33});
  EXPECT_EQ(BindError(kBind, call),
            "input 0 is float32[1, 2, 8, 8, 16], expected float32[1, 3, 8, 8, 16]");
  call = good;
  call.attributes.set("pads", Ints{1, 1, 1, 1});
  EXPECT_EQ(BindError(kBind, call),
            "output 0 is float32[1, 3, 6, 6, 16], expected float32[1, 3, 8, 8, 16]");
  call = good;
  call.attributes.set("out_channels", std::int64_t{0});
  EXPECT_EQ(BindError(kBind, call), "attribute out_channels is 0, it must be at least 1");
  call = good;
  call.inputs[0] = {ElementType::kFloat32, {1, 20, 8, 8}};
  EXPECT_THAT(BindError(kBind, call), HasSubstr("expected is a blocked image"));
  call = good;
  call.inputs.push_back({ElementType::kFloat32, {33}});
  EXPECT_EQ(BindError(kBind, call), "the bias, input 2, is float32[33], expected float32[48]");
}

TEST(BlockedConv2d, BindRejectsSizesThatOverflow) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 29;
  const ConvCase c{.batch = 0, .height = kHuge, .width = kHuge};
  EXPECT_EQ(
      BindError(BindBlocked<BindBlockedConv2d>, CallOf(c, BlockedImageType(0, 1, kHuge, kHuge),
                                                       PackedBlockedConv2dType(1, 1, 1, 1))),
      "the image has more than 2^27 pixels");
  const ConvCase filter{
      .height = 8, .width = 8, .kernel = {3000, 3000}, .pads = {3000, 3000, 0, 0}};
  EXPECT_EQ(
      BindError(BindBlocked<BindBlockedConv2d>, CallOf(filter, BlockedImageType(1, 1, 8, 8),
                                                       PackedBlockedConv2dType(1, 1, 9000000, 1))),
      "the filter has more than 2^22 taps");
}

TEST(BlockedPlanes, BindRejectsWhatDoesNotFit) {
  constexpr auto kBind = BindBlocked<BindBlockedConv2dPlanes>;
  const ConvCase c{.channels = 3, .outs = 20, .height = 8, .width = 8, .kernel = {3, 3}};
  const KernelCall good =
      CallOf(c, {ElementType::kFloat32, {1, 3, 8, 8}}, PackedBlockedPlanesType(20, 3, 9));
  EXPECT_EQ(BindError(kBind, good), "");
  KernelCall call = good;
  call.inputs[0].element = ElementType::kFloat16;
  EXPECT_EQ(BindError(kBind, call), "input 0 is float16[1, 3, 8, 8], allowed is float32");
  call = good;
  call.attributes.set("group", std::int64_t{3});
  EXPECT_THAT(BindError(kBind, call), HasSubstr("and one group"));
  call = good;
  call.inputs[1].shape[1] = 28;
  EXPECT_EQ(BindError(kBind, call),
            "the weights, input 1, is float32[2, 28, 16], expected float32[2, 27, 16]");
}

TEST(BlockedPointwise, BindRejectsWhatDoesNotFit) {
  constexpr auto kBind = BindBlocked<BindBlockedPointwiseConv2d>;
  const ConvCase c{.group = 4, .channels = 6, .outs = 5, .height = 8, .width = 8};
  const KernelCall good =
      CallOf(c, BlockedImageType(1, 24, 8, 8), PackedBlockedPointwiseType(20, 24, 4));
  EXPECT_EQ(BindError(kBind, good), "");
  KernelCall call = good;
  call.attributes.set("group", std::int64_t{3});
  EXPECT_THAT(BindError(kBind, call), HasSubstr("must be multiples of group (3)"));
  call = good;
  call.attributes.set("group", std::int64_t{0});
  EXPECT_THAT(BindError(kBind, call), HasSubstr("must be multiples of group (0)"));
  call = good;
  call.attributes.set("strides", Ints{2, 1});
  EXPECT_EQ(BindError(kBind, call), "the filter has more than a pixel, steps or padding");
  call = good;
  call.attributes.set("channel_order", Ints{0, 1});
  EXPECT_EQ(BindError(kBind, call), "attribute channel_order has 2 channels, expected 24");
  call.attributes.set("channel_order", Ints(24, 24));
  EXPECT_EQ(BindError(kBind, call), "attribute channel_order has channel 24 of 24");
  call = good;
  call.inputs[1].shape[0] = 2;
  EXPECT_EQ(BindError(kBind, call),
            "the weights, input 1, is float32[2, 6, 16], expected float32[5, 6, 16]");
}

TEST(BlockedDepthwise, BindRejectsWhatDoesNotFit) {
  constexpr auto kBind = BindBlocked<BindBlockedDepthwiseConv2d>;
  const ConvCase c{.group = 20, .height = 8, .width = 8, .kernel = {3, 3}};
  const KernelCall good =
      CallOf(c, BlockedImageType(1, 20, 8, 8), PackedBlockedDepthwiseType(20, 9));
  EXPECT_EQ(BindError(kBind, good), "");
  KernelCall call = good;
  call.attributes.set("out_channels", std::int64_t{40});
  EXPECT_EQ(BindError(kBind, call),
            "input channels (20), output channels (40) and group (20) must be the same number");
  call = good;
  call.inputs[1].element = ElementType::kInt8;
  EXPECT_THAT(BindError(kBind, call), HasSubstr("allowed are float32 and float16"));
  call = good;
  call.outputs[0].shape[2] = 8;
  EXPECT_EQ(BindError(kBind, call),
            "output 0 is float32[1, 2, 8, 6, 16], expected float32[1, 2, 6, 6, 16]");
}

}  // namespace
}  // namespace poprt::kernels::testing
