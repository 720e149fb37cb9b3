#include <string>
#include <vector>

#include "runtime/kernels/blocked/blocked_testing.hpp"
#include "runtime/kernels/blocked/pack_blocked.hpp"
#include "runtime/kernels/matrix_unit/split_blocking.hpp"

namespace poprt::kernels::testing {
namespace {

using ::testing::HasSubstr;

struct PairCase {
  std::int64_t batch = 1;
  std::int64_t group = 1;
  std::int64_t channels = 1;  ///< input channels of a group
  std::int64_t outs = 1;      ///< output channels of a group
  std::int64_t height = 1;
  std::int64_t width = 1;
  Ints kernel{3, 3};
  Ints strides{1, 1};
  Ints dilations{1, 1};
  Ints pads{1, 1, 1, 1};
  std::string inner = {};
  std::string activation = {};
  bool bias = true;
  bool half_weights = false;
  Ints order = {};
  bool specials = false;  ///< the image has numbers that are not finite
};

Attributes PointwiseAttributes(const PairCase& c) {
  Attributes attributes{{"in_channels", c.group * c.channels},
                        {"out_channels", c.group * c.outs},
                        {"group", c.group}};
  if (!c.order.empty()) attributes.set("channel_order", c.order);
  return attributes;
}

void SetWindow(const PairCase& c, Attributes& attributes) {
  attributes.set("kernel_shape", c.kernel);
  attributes.set("strides", c.strides);
  attributes.set("dilations", c.dilations);
  attributes.set("pads", c.pads);
}

void SetActivation(const std::string& activation, const std::string& prefix,
                   Attributes& attributes) {
  const Attributes added = ActivationAttributes(activation);
  for (const auto& [name, value] : added.entries()) attributes.set(prefix + name, value);
}

/// All attributes; those of the inner activation by their names there.
Attributes PairAttributes(const PairCase& c) {
  Attributes attributes = PointwiseAttributes(c);
  SetWindow(c, attributes);
  SetActivation(c.activation, "", attributes);
  SetActivation(c.inner, "inner_", attributes);
  return attributes;
}

Shape OutputExtents(const PairCase& c) {
  const Shape spatial{c.height, c.width};
  return WindowOutputExtents(ResolveWindow(PairAttributes(c), spatial, c.kernel), spatial, false);
}

/// What the two convolutions compute one after the other, without the last activation.
Tensor OneAfterTheOther(const PairCase& c, const std::vector<Tensor>& operands,
                        const TensorType& y) {
  const std::int64_t outs = c.group * c.outs;
  Attributes pointwise = PointwiseAttributes(c);
  pointwise.set("kernel_shape", Ints{1, 1});
  SetActivation(c.inner, "", pointwise);
  const Tensor inner = RunPacked(
      BindBlocked<BindBlockedPointwiseConv2d>, {operands[0], operands[1], operands[2]},
      BlockedImageType(c.batch, outs, c.height, c.width), pointwise, PortableInnerLoops());
  Attributes depthwise{{"in_channels", outs}, {"out_channels", outs}, {"group", outs}};
  SetWindow(c, depthwise);
  return RunPacked(BindBlocked<BindBlockedDepthwiseConv2d>, {inner, operands[3], operands[4]}, y,
                   depthwise, PortableInnerLoops());
}

void CheckPair(Random& random, const PairCase& c) {
  const std::int64_t outs = c.group * c.outs;
  const Shape out = OutputExtents(c);
  const TensorType y = BlockedImageType(c.batch, outs, out[0], out[1]);
  const ElementType stored = c.half_weights ? ElementType::kFloat16 : ElementType::kFloat32;
  const auto bias = [&] {
    return c.bias ? PackBlockedBias(random.Values({ElementType::kFloat32, {outs}})) : Tensor();
  };
  const std::vector<Tensor> operands{
      random.Values(BlockedImageType(c.batch, c.group * c.channels, c.height, c.width), c.specials),
      PackBlockedPointwiseWeights(random.Values({stored, {outs, c.channels, 1, 1}}), c.group,
                                  stored),
      bias(),
      PackBlockedDepthwiseWeights(random.Values({stored, {outs, 1, c.kernel[0], c.kernel[1]}}),
                                  stored),
      bias()};
  const auto magnitude = static_cast<double>(c.channels * c.kernel[0] * c.kernel[1]);
  std::vector<Expected> expected;
  for (const double value : Doubles(OneAfterTheOther(c, operands, y))) {
    expected.push_back({value, magnitude});
  }
  ExpectPacked(BindBlockedPointwiseDepthwise, operands, y, PairAttributes(c), expected);
}

TEST(BlockedPointwiseDepthwise, AgreesWithBothConvolutions) {
  ForSeeds(40, [](std::mt19937& seeds) {
    Random random(seeds());
    PairCase c;
    c.batch = random.Int(1, 2);
    c.group = random.Flip() ? 1 : random.Int(2, 4);
    c.channels = random.Int(1, 20);
    c.outs = random.Int(1, 40);
    c.kernel = {random.Int(1, 4), random.Int(1, 4)};
    c.strides = {random.Int(1, 3), random.Int(1, 3)};
    c.dilations = {random.Int(1, 2), random.Int(1, 2)};
    c.pads = {random.Int(0, 3), random.Int(0, 3), random.Int(0, 3), random.Int(0, 3)};
    c.height = random.Int(8, 24);
    c.width = random.Int(8, 20);
    c.inner = random.Of(AllActivations());
    c.activation = random.Of(AllActivations());
    c.bias = random.Flip();
    c.half_weights = random.Flip();
    const bool ordered = random.Flip();
    for (std::int64_t i = 0; ordered && i < c.group * c.channels; ++i) {
      c.order.insert(c.order.begin() + random.Int(0, i), i);
    }
    CheckPair(random, c);
  });
}

TEST(BlockedPointwiseDepthwise, KeepsRowsThatStripsShare) {
  Random random(9);
  // Four rows of so many pixels fit, less than a band has.
  CheckPair(random, {.channels = 3, .outs = 20, .height = 24, .width = 1000, .inner = "relu"});
  CheckPair(random, {.channels = 3,
                     .outs = 16,
                     .height = 24,
                     .width = 1000,
                     .strides = {2, 2},
                     .inner = "clip",
                     .activation = "relu"});
  CheckPair(random, {.channels = 2,
                     .outs = 16,
                     .height = 24,
                     .width = 1000,
                     .kernel = {5, 3},
                     .dilations = {3, 1},
                     .pads = {8, 1, 2, 1}});
  CheckPair(random, {.channels = 2,
                     .outs = 16,
                     .height = 24,
                     .width = 1000,
                     .kernel = {1, 1},
                     .strides = {4, 1},
                     .pads = {9, 0, 20, 0}});
}

/// Few blocks of channels, so that images are cut into bands.
TEST(BlockedPointwiseDepthwise, KeepsRowsThatBandsShare) {
  Random random(11);
  CheckPair(random, {.channels = 3, .outs = 40, .height = 40, .width = 12, .inner = "relu"});
  CheckPair(random, {.batch = 2,
                     .channels = 3,
                     .outs = 16,
                     .height = 61,
                     .width = 9,
                     .kernel = {5, 3},
                     .strides = {2, 1},
                     .pads = {2, 1, 2, 1}});
  CheckPair(random, {.channels = 2,
                     .outs = 20,
                     .height = 70,
                     .width = 6,
                     .kernel = {3, 3},
                     .dilations = {2, 1},
                     .pads = {0, 1, 4, 1}});
}

/// So large that a matrix unit computes the first convolution, which is emulated where there is
/// none: all blocks at once and some of them, several tasks of rows, a depth in parts.
TEST(BlockedPointwiseDepthwise, AgreesOnAMatrixUnit) {
  Random random(12);
  const PairCase small{.channels = 96, .outs = 200, .height = 14, .width = 14, .inner = "clip"};
  const PairCase large{.channels = 96, .outs = 256, .height = 40, .width = 40, .inner = "relu"};
  const PairCase deep{.channels = 800, .outs = 64, .height = 14, .width = 14};
  for (const PairCase& c : {small, large, deep}) {
    const std::int64_t pixels_of_band = c.height * c.width / (c.height > 20 ? 4 : 2);
    ASSERT_TRUE(
        SplitBlocking::Pays(pixels_of_band, BlocksOf(c.outs), c.channels, PanelNumbers::kFloat));
    CheckPair(random, c);
  }
  // Three rows of all blocks are too many.
  const PairCase wide{.channels = 64, .outs = 1200, .height = 8, .width = 40, .inner = "relu"};
  ASSERT_TRUE(SplitBlocking::Pays(3 * wide.width, (1 << 17) / (3 * wide.width * kBlock),
                                  wide.channels, PanelNumbers::kFloat));
  CheckPair(random, wide);
  PairCase other = small;
  other.batch = 2;
  other.strides = {2, 2};
  other.activation = "relu";
  other.half_weights = true;
  CheckPair(random, other);
  other = small;
  other.inner = "";
  other.specials = true;
  CheckPair(random, other);
}

TEST(BlockedPointwiseDepthwise, BindRejectsWhatDoesNotFit) {
  constexpr auto kBind = BindBlockedPointwiseDepthwise;
  const PairCase c{.channels = 20, .outs = 33, .height = 8, .width = 8};
  const KernelCall good{.inputs = {BlockedImageType(1, 20, 8, 8),
                                   PackedBlockedPointwiseType(33, 20, 1),
                                   {ElementType::kFloat32, {48}},
                                   PackedBlockedDepthwiseType(33, 9)},
                        .outputs = {BlockedImageType(1, 33, 8, 8)},
                        .attributes = PairAttributes(c)};
  EXPECT_EQ(BindError(kBind, good), "");
  KernelCall call = good;
  call.inputs[3].shape[1] = 8;
  EXPECT_EQ(BindError(kBind, call),
            "the filters, input 3, is float32[3, 8, 16], expected float32[3, 9, 16]");
  call = good;
  call.inputs.push_back({ElementType::kFloat32, {33}});
  EXPECT_EQ(BindError(kBind, call), "the bias, input 4, is float32[33], expected float32[48]");
  call = good;
  call.attributes.set("inner_activation", "sine");
  EXPECT_THAT(BindError(kBind, call), HasSubstr("'sine'"));
  call = good;
  call.attributes.set("strides", Ints{2, 2});
  EXPECT_EQ(BindError(kBind, call),
            "output 0 is float32[1, 3, 8, 8, 16], expected float32[1, 3, 4, 4, 16]");
  call = good;
  call.inputs.resize(3);
  EXPECT_NE(BindError(kBind, call), "");
}

}  // namespace
}  // namespace poprt::kernels::testing
