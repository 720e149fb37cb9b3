#include <string>
#include <vector>

#include "runtime/kernels/packed/pack.hpp"
#include "runtime/kernels/packed/packed_kernels.hpp"
#include "runtime/kernels/packed/packed_testing.hpp"
#include "runtime/kernels/window/window.hpp"

namespace poprt::kernels::testing {
namespace {

using ::testing::HasSubstr;

struct ConvCase {
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
  const char* activation = "";
  bool bias = false;
  bool residual = false;
  bool depthwise = false;
  bool specials = false;  ///< NaN and infinities everywhere but in the weights
};

struct Operands {
  std::vector<double> x;
  std::vector<double> w;
  std::vector<double> bias;
  std::vector<double> residual;
};

std::vector<Expected> NaiveConv(const ConvCase& c, const Operands& operands, const Shape& y) {
  std::vector<Expected> expected;
  for (std::int64_t i = 0; i < ElementCount(y); ++i) {
    const std::int64_t column = i % y[3];
    const std::int64_t row = i / y[3] % y[2];
    const std::int64_t out = i / y[3] / y[2] % y[1];
    const std::int64_t image = i / y[3] / y[2] / y[1];
    Expected& sum = expected.emplace_back();
    for (std::int64_t k = 0; k < c.channels * c.kernel[0] * c.kernel[1]; ++k) {
      const std::int64_t tap_column = k % c.kernel[1];
      const std::int64_t tap_row = k / c.kernel[1] % c.kernel[0];
      const std::int64_t channel = k / c.kernel[1] / c.kernel[0] + out / c.outs * c.channels;
      const std::int64_t ih = row * c.strides[0] - c.pads[0] + tap_row * c.dilations[0];
      const std::int64_t iw = column * c.strides[1] - c.pads[1] + tap_column * c.dilations[1];
      if (ih < 0 || ih >= c.height || iw < 0 || iw >= c.width) continue;
      const std::int64_t x_at =
          ((image * c.group * c.channels + channel) * c.height + ih) * c.width + iw;
      const std::int64_t w_at = out * c.channels * c.kernel[0] * c.kernel[1] + k;
      sum.Add(operands.x[static_cast<std::size_t>(x_at)] *
              operands.w[static_cast<std::size_t>(w_at)]);
    }
    if (c.bias) sum.Add(operands.bias[static_cast<std::size_t>(out)]);
    if (c.residual) sum.Add(operands.residual[static_cast<std::size_t>(i)]);
  }
  return expected;
}

void CheckConv(Random& random, const ConvCase& c) {
  const ElementType element = random.FloatType();
  const ElementType stored = random.FloatType();
  const std::int64_t outs = c.group * c.outs;
  Attributes attributes = ActivationAttributes(c.activation);
  attributes.set("kernel_shape", c.kernel);
  attributes.set("strides", c.strides);
  attributes.set("dilations", c.dilations);
  attributes.set("pads", c.pads);
  attributes.set("group", c.group);
  attributes.set("out_channels", outs);
  const Shape spatial{c.height, c.width};
  const Shape out =
      WindowOutputExtents(ResolveWindow(attributes, spatial, c.kernel), spatial, false);
  const TensorType y{element, {c.batch, outs, out[0], out[1]}};
  const Tensor x =
      random.Values({element, {c.batch, c.group * c.channels, c.height, c.width}}, c.specials);
  const Tensor w = random.Values({stored, {outs, c.channels, c.kernel[0], c.kernel[1]}});
  const Tensor bias =
      c.bias ? random.Values({ElementType::kFloat32, {outs}}, c.specials) : Tensor();
  const Tensor residual = c.residual ? random.Values(y, c.specials) : Tensor();
  const auto expected =
      NaiveConv(c, {Doubles(x), Doubles(w), Doubles(bias), Doubles(residual)}, y.shape);
  if (c.depthwise) {
    ExpectPacked(BindDepthwiseConv2d, {x, PackDepthwiseWeights(w, stored), bias, residual}, y,
                 attributes, expected);
  } else {
    ExpectPacked(BindConv2d, {x, PackConv2dWeights(w, c.group, stored), bias, residual}, y,
                 attributes, expected);
  }
}

/// Random geometry whose output is not empty.
ConvCase RandomCase(Random& random) {
  ConvCase c;
  c.batch = random.Int(1, 2);
  c.kernel = {random.Int(1, 4), random.Int(1, 4)};
  c.strides = {random.Int(1, 3), random.Int(1, 3)};
  c.dilations = {random.Int(1, 2), random.Int(1, 2)};
  c.pads = {random.Int(0, 3), random.Int(0, 3), random.Int(0, 3), random.Int(0, 3)};
  c.height = random.Int(8, 20);
  c.width = random.Int(8, 40);
  c.activation = random.Of(AllActivations()).c_str();
  c.bias = random.Flip();
  c.residual = random.Flip();
  return c;
}

TEST(PackedConv2d, AgreesWithNaiveConvolutionOnRandomSizes) {
  ForSeeds(60, [&](std::mt19937& seeds) {
    Random random(seeds());
    ConvCase c = RandomCase(random);
    c.group = random.Int(1, 3);
    c.channels = random.Int(1, 9);
    c.outs = random.Int(1, 20);
    CheckConv(random, c);
  });
}

TEST(PackedConv2d, SinglePixelsOfFewChannels) {
  ForSeeds(40, [&](std::mt19937& seeds) {
    Random random(seeds());
    ConvCase c = RandomCase(random);
    c.kernel = c.strides = {1, 1};
    c.pads = {0, 0, 0, 0};
    c.width = random.Int(1, 300);
    c.group = random.Int(1, 3);
    c.channels = random.Int(1, 30);
    c.outs = random.Int(1, 5);
    c.specials = random.Flip();
    CheckConv(random, c);
  });
}

TEST(PackedConv2d, NanAndInfinitiesReachOnlyWhatTheyTouch) {
  ForSeeds(20, [&](std::mt19937& seeds) {
    Random random(seeds());
    ConvCase c = RandomCase(random);
    c.activation = "";
    c.specials = true;
    c.depthwise = random.Flip();
    c.group = random.Int(1, 3);
    c.channels = c.depthwise ? 1 : random.Int(1, 9);
    c.outs = c.depthwise ? 1 : random.Int(1, 20);
    CheckConv(random, c);
  });
}

TEST(PackedConv2d, BatchOfNothing) {
  Random random(1);
  ConvCase c = RandomCase(random);
  c.batch = 0;
  CheckConv(random, c);
  c.depthwise = true;
  CheckConv(random, c);
  // Padding around nothing.
  CheckConv(random, {.outs = 2, .height = 0, .width = 3, .pads = {1, 1, 2, 0}, .bias = true});
  CheckConv(random, {.height = 2, .width = 0, .pads = {0, 2, 1, 1}, .depthwise = true});
}

TEST(PackedConv2d, AgreesOnPointwiseConvolutions) {
  ForSeeds(10, [&](std::mt19937& seeds) {
    Random random(seeds());
    CheckConv(random, {.batch = random.Int(1, 2),
                       .channels = random.Int(1, 50),
                       .outs = random.Int(1, 50),
                       .height = random.Int(1, 9),
                       .width = random.Int(1, 9),
                       .bias = true});
  });
}

TEST(PackedConv2d, AgreesWhenDepthAndChannelsAreCut) {
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
  CheckConv(random, {.channels = 3,
                     .outs = 7,
                     .height = 30,
                     .width = 34,
                     .kernel = {7, 7},
                     .strides = {2, 2},
                     .pads = {3, 3, 3, 3}});
}

TEST(PackedConv2d, PaddingMayBeWiderThanTheImage) {
  Random random(6);
  CheckConv(random, {.channels = 2,
                     .outs = 3,
                     .height = 2,
                     .width = 3,
                     .kernel = {2, 2},
                     .strides = {1, 2},
                     .pads = {4, 20, 3, 5}});
}

KernelCall GoodConv() {
  return {.inputs = {{ElementType::kFloat32, {1, 4, 8, 8}}, {ElementType::kFloat32, {2, 3, 18}}},
          .outputs = {{ElementType::kFloat32, {1, 6, 6, 6}}},
          .attributes = {{"group", std::int64_t{2}},
                         {"out_channels", std::int64_t{6}},
                         {"kernel_shape", Ints{3, 3}}}};
}

TEST(PackedConv2d, BindRejectsWhatDoesNotFit) {
  EXPECT_EQ(BindError(BindConv2d, GoodConv()), "");
  KernelCall call = GoodConv();
  call.attributes.set("group", std::int64_t{3});
  EXPECT_THAT(BindError(BindConv2d, call), HasSubstr("input channels (4) must be a multiple of"));
  call = GoodConv();
  call.attributes.set("kernel_shape", Ints{3, 2});
  EXPECT_EQ(BindError(BindConv2d, call),
            "the weights, input 1, is float32[2, 3, 18], expected float32[2, 3, 12]");
  call = GoodConv();
  call.attributes.set("kernel_shape", Ints{9});
  EXPECT_THAT(BindError(BindConv2d, call), HasSubstr("kernel_shape must hold two extents"));
  call = GoodConv();
  call.attributes.set("pads", Ints{1, 1, 1, 1});
  EXPECT_EQ(BindError(BindConv2d, call),
            "output 0 is float32[1, 6, 6, 6], expected float32[1, 6, 8, 8]");
  call = GoodConv();
  call.inputs[0].shape = {1, 4, 64};
  EXPECT_EQ(BindError(BindConv2d, call), "input 0 is float32[1, 4, 64], expected is rank 4");
  call = GoodConv();
  call.inputs.push_back({ElementType::kFloat32, {5}});
  EXPECT_EQ(BindError(BindConv2d, call), "the bias, input 2, is float32[5], expected float32[6]");
}

TEST(PackedDepthwise, AgreesWithNaiveConvolutionOnRandomSizes) {
  ForSeeds(60, [&](std::mt19937& seeds) {
    Random random(seeds());
    ConvCase c = RandomCase(random);
    c.depthwise = true;
    c.group = random.Int(1, 9);
    c.outs = random.Int(1, 3);
    CheckConv(random, c);
  });
}

TEST(PackedDepthwise, AgreesWhenRowsAreCut) {
  Random random(9);
  CheckConv(random, {.group = 2,
                     .height = 150,
                     .width = 301,
                     .kernel = {3, 3},
                     .strides = {2, 2},
                     .pads = {0, 1, 1, 0},
                     .activation = "clip",
                     .bias = true,
                     .depthwise = true});
}

TEST(PackedDepthwise, BindRejectsWhatDoesNotFit) {
  const KernelCall good{
      .inputs = {{ElementType::kFloat32, {1, 4, 8, 8}}, {ElementType::kFloat16, {8, 9}}},
      .outputs = {{ElementType::kFloat32, {1, 8, 6, 6}}},
      .attributes = {{"out_channels", std::int64_t{8}}, {"kernel_shape", Ints{3, 3}}}};
  EXPECT_EQ(BindError(BindDepthwiseConv2d, good), "");
  KernelCall call = good;
  call.attributes.set("out_channels", std::int64_t{6});
  EXPECT_EQ(BindError(BindDepthwiseConv2d, call),
            "output channels (6) must be a multiple of the 4 input channels");
  call = good;
  call.inputs[1].shape = {8, 3, 3};
  EXPECT_EQ(BindError(BindDepthwiseConv2d, call),
            "the weights, input 1, is float16[8, 3, 3], expected float16[8, 9]");
}

}  // namespace
}  // namespace poprt::kernels::testing
