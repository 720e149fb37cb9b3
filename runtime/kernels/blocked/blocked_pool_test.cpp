#include <cmath>
#include <limits>
#include <vector>

#include "runtime/kernels/blocked/blocked_testing.hpp"
#include "runtime/kernels/blocked/pack_blocked.hpp"

namespace poprt::kernels::testing {
namespace {

using ::testing::HasSubstr;

struct PoolCase {
  Shape x;  ///< blocked
  Ints kernel;
  Ints strides{1, 1};
  Ints dilations{1, 1};
  Ints pads{0, 0, 0, 0};
  bool ceil_mode = false;
  bool count_include_pad = false;
};

Attributes AttributesOf(const PoolCase& c) {
  return {{"kernel_shape", c.kernel},
          {"strides", c.strides},
          {"dilations", c.dilations},
          {"pads", c.pads},
          {"ceil_mode", std::int64_t{c.ceil_mode}},
          {"count_include_pad", std::int64_t{c.count_include_pad}}};
}

TensorType OutputOf(const PoolCase& c) {
  const Shape spatial{c.x[2], c.x[3]};
  const Shape out =
      WindowOutputExtents(ResolveWindow(AttributesOf(c), spatial, c.kernel), spatial, c.ceil_mode);
  return {ElementType::kFloat32, {c.x[0], c.x[1], out[0], out[1], kBlock}};
}

struct Pooled {
  double maximum = -std::numeric_limits<double>::infinity();
  double sum = 0;
  std::int64_t count = 0;
};

Pooled NaivePool(const PoolCase& c, const Values& x, const BlockedPosition& out) {
  Pooled pooled;
  ForEach(c.kernel, [&](const Index& tap) {
    const std::int64_t row = out.row * c.strides[0] - c.pads[0] + tap[0] * c.dilations[0];
    const std::int64_t column = out.column * c.strides[1] - c.pads[1] + tap[1] * c.dilations[1];
    const bool padded = row >= -c.pads[0] && row < c.x[2] + c.pads[2] && column >= -c.pads[1] &&
                        column < c.x[3] + c.pads[3];
    const bool inside = row >= 0 && row < c.x[2] && column >= 0 && column < c.x[3];
    if (inside || (padded && c.count_include_pad)) ++pooled.count;
    if (!inside) return;
    const double value = x[BlockedPosition{out.image, out.channel, row, column}.In(c.x)];
    if (value > pooled.maximum || std::isnan(value)) pooled.maximum = value;
    pooled.sum += value;
  });
  return pooled;
}

/// Both poolings against their definitions. Sums of `x` with NaN are not compared.
void CheckPool(const PoolCase& c, const Tensor& x, bool averages) {
  const TensorType y = OutputOf(c);
  const Values values = Doubles(x);
  std::vector<Expected> average;
  std::vector<double> maximum;
  for (std::int64_t i = 0; i < ElementCount(y.shape); ++i) {
    const Pooled pooled = NaivePool(c, values, BlockedPosition::Of(i, y.shape));
    maximum.push_back(pooled.maximum);
    const double mean = pooled.sum / static_cast<double>(std::max<std::int64_t>(1, pooled.count));
    average.push_back({mean, 1});
  }
  if (averages) {
    ExpectPacked(BindBlocked<BindBlockedAveragePool>, {x}, y, AttributesOf(c), average);
  }
  for (const InnerLoops* loops : AllInnerLoops()) {
    SCOPED_TRACE(loops->instruction_set);
    for (const int threads : {1, 3}) {
      const Tensor result =
          RunPacked(BindBlocked<BindBlockedMaxPool>, {x}, y, AttributesOf(c), *loops, threads);
      const Values found = Doubles(result);
      for (std::size_t i = 0; i < maximum.size(); ++i) {
        ASSERT_TRUE(found[i] == maximum[i] || (std::isnan(found[i]) && std::isnan(maximum[i])))
            << "element " << i << " is " << found[i] << ", expected " << maximum[i];
      }
    }
  }
}

PoolCase RandomPool(Random& random) {
  return {.x = {random.Int(1, 2), random.Int(1, 3), random.Int(8, 14), random.Int(8, 20), kBlock},
          .kernel = {random.Int(1, 6), random.Int(1, 6)},
          .strides = {random.Int(1, 3), random.Int(1, 3)},
          .dilations = {random.Int(1, 2), random.Int(1, 2)},
          .pads = {random.Int(0, 3), random.Int(0, 3), random.Int(0, 3), random.Int(0, 3)},
          .ceil_mode = random.Flip(),
          .count_include_pad = random.Flip()};
}

TEST(BlockedPool, AgreesWithNaivePoolingOnRandomSizes) {
  ForSeeds(40, [](std::mt19937& seeds) {
    Random random(seeds());
    const PoolCase c = RandomPool(random);
    CheckPool(c, random.Values({ElementType::kFloat32, c.x}), true);
  });
}

TEST(BlockedPool, MaximaKeepNan) {
  ForSeeds(10, [](std::mt19937& seeds) {
    Random random(seeds());
    const PoolCase c = RandomPool(random);
    CheckPool(c, random.Values({ElementType::kFloat32, c.x}, true), false);
  });
}

TEST(BlockedPool, TheWindowMayBeTheImage) {
  Random random(3);
  const PoolCase c{.x = {2, 3, 7, 9, kBlock}, .kernel = {7, 9}};
  CheckPool(c, random.Values({ElementType::kFloat32, c.x}), true);
  const PoolCase none{.x = {0, 3, 7, 9, kBlock}, .kernel = {7, 9}};
  CheckPool(none, random.Values({ElementType::kFloat32, none.x}), true);
}

TEST(BlockedPool, BindRejectsWhatDoesNotFit) {
  constexpr auto kBind = BindBlocked<BindBlockedMaxPool>;
  const PoolCase c{.x = {1, 2, 8, 8, kBlock}, .kernel = {2, 2}};
  const KernelCall good{.inputs = {{ElementType::kFloat32, c.x}},
                        .outputs = {OutputOf(c)},
                        .attributes = AttributesOf(c)};
  EXPECT_EQ(BindError(kBind, good), "");
  EXPECT_EQ(BindError(BindBlocked<BindBlockedAveragePool>, good), "");
  KernelCall call = good;
  call.inputs[0].shape[4] = 8;
  EXPECT_THAT(BindError(kBind, call), HasSubstr("expected is a blocked image"));
  call = good;
  call.attributes.set("kernel_shape", Ints{2});
  EXPECT_THAT(BindError(kBind, call), HasSubstr("kernel_shape must hold two extents"));
  call = good;
  call.attributes.set("ceil_mode", std::int64_t{2});
  EXPECT_EQ(BindError(kBind, call), "attribute 'ceil_mode' is 2, allowed are 0 and 1");
  call = good;
  call.outputs[0].shape[3] = 8;
  EXPECT_EQ(BindError(kBind, call),
            "output 0 is float32[1, 2, 7, 8, 16], expected float32[1, 2, 7, 7, 16]");
}

TEST(BlockedLayout, BlocksAndUnblocksAnyImage) {
  ForSeeds(20, [](std::mt19937& seeds) {
    Random random(seeds());
    const std::int64_t channels = random.Int(1, 50);
    const std::int64_t height = random.Int(0, 40);
    const std::int64_t width = random.Int(1, 40);
    const TensorType planes{ElementType::kFloat32, {random.Int(0, 2), channels, height, width}};
    const TensorType blocks = BlockedImageType(planes.shape[0], channels, height, width);
    const Tensor x = random.Values(planes, true);
    Tensor expected(blocks);
    const auto values = expected.as_mutable<float>();
    for (std::int64_t i = 0; i < expected.count(); ++i) {
      const BlockedPosition at = BlockedPosition::Of(i, blocks.shape);
      if (at.channel >= channels) continue;
      const Index index{at.image, at.channel, at.row, at.column};
      values[static_cast<std::size_t>(i)] = x.as<float>()[Flat(planes.shape, index)];
    }
    const Attributes attributes{{"channels", channels}};
    const TensorType pixels{ElementType::kFloat32, {planes.shape[0], height, width, channels}};
    const Tensor last = RunOnce("Transpose", {x}, {pixels}, {{"perm", Ints{0, 2, 3, 1}}}).front();
    const Attributes block_last{{"channels_last", std::int64_t{1}}};
    const Attributes unblock_last{{"channels", channels}, {"channels_last", std::int64_t{1}}};
    for (const InnerLoops* loops : AllInnerLoops()) {
      for (const int threads : {1, 3}) {
        EXPECT_EQ(RunPacked(BindBlocked<BindBlockChannels>, {x}, blocks, {}, *loops, threads),
                  expected);
        EXPECT_EQ(RunPacked(BindBlocked<BindUnblockChannels>, {expected}, planes, attributes,
                            *loops, threads),
                  x);
        EXPECT_EQ(
            RunPacked(BindBlocked<BindBlockChannels>, {last}, blocks, block_last, *loops, threads),
            expected);
        EXPECT_EQ(RunPacked(BindBlocked<BindUnblockChannels>, {expected}, pixels, unblock_last,
                            *loops, threads),
                  last);
      }
    }
  });
}

TEST(BlockedLayout, BlocksAndUnblocksBytes) {
  ForSeeds(20, [](std::mt19937& seeds) {
    Random random(seeds());
    const std::int64_t channels = random.Int(1, 50);
    const TensorType planes{ElementType::kUint8,
                            {random.Int(0, 2), channels, random.Int(0, 40), random.Int(1, 40)}};
    const Shape& s = planes.shape;
    const TensorType blocks = BlockedImageType(s[0], channels, s[2], s[3], ElementType::kUint8);
    Tensor x(planes);
    for (std::int64_t i = 0; i < x.count(); ++i) {
      x.mutable_data()[i] = static_cast<std::byte>(random.Int(1, 255));
    }
    const Tensor blocked =
        RunPacked(BindBlocked<BindBlockChannels>, {x}, blocks, {}, PortableInnerLoops(), 3);
    for (std::int64_t i = 0; i < blocked.count(); ++i) {
      const BlockedPosition at = BlockedPosition::Of(i, blocks.shape);
      const std::byte expected =
          at.channel >= channels
              ? std::byte{0}
              : x.data()[Flat(s, Index{at.image, at.channel, at.row, at.column})];
      ASSERT_EQ(blocked.data()[i], expected) << i;
    }
    EXPECT_EQ(RunPacked(BindBlocked<BindUnblockChannels>, {blocked}, planes,
                        {{"channels", channels}}, PortableInnerLoops(), 3),
              x);
  });
}

TEST(BlockedLayout, BindRejectsWhatDoesNotFit) {
  const TensorType planes{ElementType::kFloat32, {1, 20, 3, 4}};
  const TensorType blocks = BlockedImageType(1, 20, 3, 4);
  EXPECT_EQ(BindError(BindBlocked<BindBlockChannels>, {{planes}, {blocks}, {}}), "");
  EXPECT_EQ(BindError(BindBlocked<BindBlockChannels>, {{planes}, {planes}, {}}),
            "the blocked image is float32[1, 20, 3, 4], expected float32[1, 2, 3, 4, 16]");
  EXPECT_EQ(BindError(BindBlocked<BindUnblockChannels>, {{blocks}, {planes}, {}}),
            "attribute channels is missing, it must be at least 1");
  EXPECT_EQ(BindError(BindBlocked<BindUnblockChannels>,
                      {{blocks}, {planes}, {{"channels", std::int64_t{33}}}}),
            "input 0 is float32[1, 2, 3, 4, 16], expected float32[1, 3, 3, 4, 16]");
  const auto channels_last = [](std::int64_t value) {
    return Attributes{{"channels", std::int64_t{20}}, {"channels_last", value}};
  };
  const TensorType pixels{ElementType::kFloat32, {1, 3, 4, 20}};
  EXPECT_EQ(BindError(BindBlocked<BindBlockChannels>, {{pixels}, {blocks}, channels_last(1)}), "");
  EXPECT_EQ(BindError(BindBlocked<BindBlockChannels>, {{planes}, {blocks}, channels_last(1)}),
            "the blocked image is float32[1, 2, 3, 4, 16], expected float32[1, 1, 20, 3, 16]");
  EXPECT_EQ(BindError(BindBlocked<BindUnblockChannels>, {{blocks}, {planes}, channels_last(1)}),
            "output 0 is float32[1, 20, 3, 4], expected float32[1, 3, 4, 20]");
  EXPECT_EQ(BindError(BindBlocked<BindUnblockChannels>, {{blocks}, {planes}, channels_last(2)}),
            "attribute 'channels_last' is 2, allowed are 0 and 1");
}

}  // namespace
}  // namespace poprt::kernels::testing
