#include "runtime/kernels/blocked/blocked_conv_testing.hpp"

namespace poprt::kernels::testing {
namespace {

using ::testing::HasSubstr;

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
    c.outs = random.Int(1, 40);
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

/// Five tasks of two blocks, which two to four threads cut anew.
TEST(BlockedPointwise, AgreesWhenTasksAreUneven) {
  Random random(9);
  CheckConv(random, {.form = Form::kPointwise,
                     .channels = 256,
                     .outs = 160,
                     .height = 7,
                     .width = 7,
                     .bias = true,
                     .residual = true});
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

/// As PackedGemm.HasTheSameBitsWithAllLoopsThatRound; portable loops compute single pixels.
TEST(BlockedPointwise, HasTheSameBitsWithAllVectorLoops) {
  constexpr std::int64_t kChannels = 37;
  Random random(12);
  const Tensor w = random.Values({ElementType::kFloat32, {kChannels, kChannels, 1, 1}});
  const auto supported = SupportedInnerLoops();
  if (supported.size() < 3) GTEST_SKIP() << "this processor has not two kinds of vectors";
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
  call.attributes.set("channels_last", std::int64_t{1});
  EXPECT_EQ(BindError(kBind, call),
            "output 0 is float32[1, 2, 8, 8, 16], expected float32[1, 8, 8, 20]");
  call.outputs[0].shape = {1, 8, 8, 20};
  EXPECT_EQ(BindError(kBind, call), "");
  call.inputs.insert(call.inputs.end(), {TensorType{}, call.outputs[0]});
  EXPECT_EQ(BindError(kBind, call), "a residual, input 3, is not allowed with channels_last");
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

}  // namespace
}  // namespace poprt::kernels::testing
