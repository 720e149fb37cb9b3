#include "runtime/kernels/blocked/blocked_conv_testing.hpp"

namespace poprt::kernels::testing {
namespace {

using ::testing::HasSubstr;

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

TEST(BlockedConv2d, NanAndInfinitiesReachOnlyWhatTheyTouch) {
  CheckRandomCases(Form::kBlocked, 6, true);
  CheckRandomCases(Form::kPlanes, 6, true);
  CheckRandomCases(Form::kDepthwise, 6, true);
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

/// Whatever the activation makes of nothing.
TEST(BlockedConv2d, HalfABlockHasZerosBehindIt) {
  Random random(3);
  const Tensor planes = random.Values({ElementType::kFloat32, {1, 3, 9, 9}});
  const Tensor blocks = random.Values(BlockedImageType(1, 3, 9, 9));
  const Tensor pixels = random.Values(BlockedImageType(1, 3, 7, 7));
  for (const std::int64_t outs : {8, 24}) {
    const Attributes attributes = AttributesOf({.channels = 3,
                                                .outs = outs,
                                                .height = 9,
                                                .width = 9,
                                                .kernel = {3, 3},
                                                .activation = "sigmoid"});
    Attributes of_points = attributes;
    of_points.set("kernel_shape", Ints{1, 1});
    const Tensor w = random.Values({ElementType::kFloat32, {outs, 3, 3, 3}});
    const Tensor points = random.Values({ElementType::kFloat32, {outs, 3, 1, 1}});
    const TensorType y = BlockedImageType(1, outs, 7, 7);
    for (const InnerLoops* loops : AllInnerLoops()) {
      SCOPED_TRACE(loops->instruction_set);
      for (const Tensor& result :
           {RunPacked(BindBlocked<BindBlockedConv2d>,
                      {blocks, PackBlockedConv2dWeights(w, 1, ElementType::kFloat32)}, y,
                      attributes, *loops),
            RunPacked(BindBlocked<BindBlockedConv2dPlanes>,
                      {planes, PackBlockedPlanesWeights(w, ElementType::kFloat32)}, y, attributes,
                      *loops),
            RunPacked(BindBlocked<BindBlockedPointwiseConv2d>,
                      {pixels, PackBlockedPointwiseWeights(points, 1)}, y, of_points, *loops)}) {
        for (std::int64_t i = 0; i < result.count(); ++i) {
          const bool is_spare = BlockedPosition::Of(i, y.shape).channel >= outs;
          ASSERT_EQ(result.as<float>()[static_cast<std::size_t>(i)] == 0.0F, is_spare) << i;
        }
      }
    }
  }
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
