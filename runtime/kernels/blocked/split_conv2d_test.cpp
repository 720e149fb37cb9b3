#include "runtime/kernels/blocked/split_conv2d.hpp"

#include "gtest/gtest.h"
#include "runtime/kernels/blocked/blocked_conv_testing.hpp"

// Convolutions that are large enough for a matrix unit, which is emulated where there is none.
namespace poprt::kernels::testing {
namespace {

ConvCase LargeCase(Random& random, Form form) {
  ConvCase c = RandomCase(random, form);
  c.batch = 1;
  c.channels = random.Int(60, 75);
  c.outs = random.Int(112, 160);
  c.group = 1;
  c.height = random.Int(16, 19);
  c.width = random.Int(16, 19);
  if (form == Form::kPointwise) {
    c.channels = random.Int(300, 340);
    c.kernel = c.strides = c.dilations = {1, 1};
    c.pads = {0, 0, 0, 0};
  } else {
    c.kernel = {random.Int(2, 3), 3};
    c.strides = {1, random.Int(1, 2)};
  }
  return c;
}

bool UsesUnit(const ConvCase& c) {
  const Shape out = WindowOutputExtents(
      ResolveWindow(AttributesOf(c), {c.height, c.width}, c.kernel), {c.height, c.width}, false);
  return SplitBlocking::Pays(c.batch * out[0] * out[1], BlocksOf(c.outs),
                             BlocksOf(c.channels) * kBlock * c.kernel[0] * c.kernel[1],
                             c.half_weights     ? PanelNumbers::kHalf
                             : c.scaled_weights ? PanelNumbers::kScaled
                                                : PanelNumbers::kFloat);
}

void CheckLargeCases(Form form, int count, bool specials) {
  int using_unit = 0;
  ForSeeds(count, [&](std::mt19937& seeds) {
    Random random(seeds());
    ConvCase c = LargeCase(random, form);
    c.specials = specials;
    if (specials) {
      c.activation = "";
      c.outs = 120;  // half a block at the end, which what is not finite takes, too
    }
    using_unit += UsesUnit(c) ? 1 : 0;
    CheckConv(random, c);
  });
  EXPECT_GT(using_unit, count / 2);
}

TEST(SplitConv2d, AgreesWithNaiveConvolution) {
  CheckLargeCases(Form::kBlocked, 3, false);
  CheckLargeCases(Form::kPointwise, 3, false);
}

TEST(SplitConv2d, ComputesWhatIsNotFiniteWithoutTheUnit) {
  CheckLargeCases(Form::kBlocked, 1, true);
  CheckLargeCases(Form::kPointwise, 1, true);
}

TEST(SplitConv2d, HasGroupsAndImages) {
  Random random(3);
  const ConvCase c{.batch = 2,
                   .group = 2,
                   .channels = 80,
                   .outs = 96,
                   .height = 14,
                   .width = 17,
                   .kernel = {3, 3},
                   .strides = {1, 1},
                   .pads = {1, 2, 1, 0},
                   .activation = "relu",
                   .bias = true,
                   .residual = true};
  EXPECT_TRUE(UsesUnit(c));
  CheckConv(random, c);
}

TEST(SplitConv2d, SmallImagesAreMultipliedTogether) {
  Random random(6);
  for (const bool specials : {false, true}) {
    const ConvCase c{.batch = 9,
                     .group = 2,
                     .channels = 48,
                     .outs = 96,
                     .height = 5,
                     .width = 6,
                     .kernel = {3, 3},
                     .pads = {1, 1, 1, 0},
                     .bias = true,
                     .residual = true,
                     .specials = specials};
    ASSERT_TRUE(UsesUnit(c));
    CheckConv(random, c);
    const ConvCase pointwise{
        .batch = 7, .channels = 320, .outs = 160, .height = 5, .width = 7, .specials = specials};
    ASSERT_TRUE(UsesUnit(pointwise));
    CheckConv(random, pointwise);
  }
}

TEST(SplitConv2d, ImagesThatAreTooFarApartAreMultipliedOneByOne) {
  const std::int64_t side = std::int64_t{1} << 10;
  EXPECT_EQ(ImagesAtOnce({32, 2, side, side}), 32);
  EXPECT_EQ(ImagesAtOnce({33, 2, side, side}), 1);
  EXPECT_EQ(ImagesAtOnce({side << 40, 2, side << 20, side}), 1);
  EXPECT_EQ(ImagesAtOnce({0, 2, side, side}), 1);
}

TEST(SplitConv2d, SevenPixelsAreLeftForTheLastRowsOfATask) {
  Random random(5);
  const ConvCase c{.channels = 64,
                   .outs = 128,
                   .height = 13,
                   .width = 17,
                   .kernel = {3, 3},
                   .pads = {1, 1, 1, 1}};
  ASSERT_TRUE(UsesUnit(c));
  ASSERT_EQ(SplitBlocking(13 * 17, 8, 64 * 9, {}).Tasks(2).At(0).rows % 8, 7);
  CheckConv(random, c);
}

TEST(SplitConv2d, StripsOfOneTileHaveTablesForWhatIsNotFinite) {
  Random random(4);
  const ConvCase c{.channels = 64, .outs = 128, .height = 16, .width = 16, .kernel = {3, 3}};
  ASSERT_TRUE(UsesUnit(c));
  const Tensor x = RandomBlocked(random, BlockedImageType(1, 64, 16, 16), 64, true, 0);
  const Tensor w = random.Values({ElementType::kFloat32, {128, 64, 3, 3}});
  const std::vector<Tensor> inputs{x, PackBlockedConv2dWeights(w, 1, ElementType::kFloat32)};
  const TensorType y = BlockedImageType(1, 128, 14, 14);
  Attributes cut = AttributesOf(c);
  cut.set("block_sizes", Ints{1, 1, 2});
  for (const InnerLoops* loops : AllInnerLoops()) {
    SCOPED_TRACE(loops->instruction_set);
    const Tensor whole =
        RunPacked(BindBlocked<BindBlockedConv2d>, inputs, y, AttributesOf(c), *loops);
    const Tensor strips = RunPacked(BindBlocked<BindBlockedConv2d>, inputs, y, cut, *loops);
    for (std::int64_t i = 0; i < whole.count(); ++i) {
      const float a = whole.as<float>()[static_cast<std::size_t>(i)];
      const float b = strips.as<float>()[static_cast<std::size_t>(i)];
      if (std::isfinite(a)) {
        ASSERT_NEAR(a, b, 1e-3) << i;
      }
      ASSERT_EQ(std::isfinite(a), std::isfinite(b)) << i;
    }
  }
}

}  // namespace
}  // namespace poprt::kernels::testing
