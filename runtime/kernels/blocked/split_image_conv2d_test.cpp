#include "runtime/kernels/blocked/split_image_conv2d.hpp"

#include "gtest/gtest.h"
#include "runtime/kernels/blocked/blocked_conv_testing.hpp"

// Convolutions that are large enough for a matrix unit, which is emulated where there is none.
namespace poprt::kernels::testing {
namespace {

bool UsesUnit(const ConvCase& c) {
  const Attributes attributes = AttributesOf(c);
  const Window window = ResolveWindow(attributes, {c.height, c.width}, c.kernel);
  const Shape out = WindowOutputExtents(window, {c.height, c.width}, false);
  const BlockedEpilogue epilogue(attributes);
  const bool has_planes = c.form == Form::kPlanes;
  const std::int64_t in_blocks = BlocksOf(c.channels);
  return SplitImageConv2d::Plan(EmulatedUnitLoops(),
                                {.planes = has_planes ? c.channels : 0,
                                 .in_blocks = has_planes ? 0 : in_blocks,
                                 .last_channels = c.channels - (in_blocks - 1) * kBlock,
                                 .group = c.group,
                                 .out = {c.batch, BlocksOf(c.group * c.outs), out[0], out[1]},
                                 .rows = PaddedRows(window, {c.height, c.width}, out),
                                 .half_weights = c.half_weights,
                                 .rows_of_task = 1},
                                epilogue)
      .has_value();
}

/// Of two to four planes, with filters of one to two steps for each of their rows.
ConvCase LargeCase(Random& random) {
  ConvCase c = RandomCase(random, Form::kPlanes);
  c.channels = random.Int(2, 4);
  c.outs = random.Int(1, 70);
  c.kernel = {random.Int(3, 7), random.Int(6, 12)};
  c.strides = {random.Int(1, 3), random.Int(1, 4)};
  c.dilations = {random.Int(1, 2), 1};
  c.pads = {random.Int(0, 4), random.Int(0, 6), random.Int(0, 4), random.Int(0, 6)};
  c.height = (c.kernel[0] - 1) * c.dilations[0] + random.Int(10, 40);
  c.width = c.kernel[1] + random.Int(60, 120);
  return c;
}

/// Of one or two blocks of channels, with filters whose rows have one to four steps.
ConvCase LargeBlockedCase(Random& random) {
  ConvCase c = RandomCase(random, Form::kBlocked);
  c.batch = random.Int(1, 2);
  c.group = random.Int(1, 2);
  c.channels = c.group == 1 ? random.Int(10, 32) : 16;
  c.outs = c.group == 1 ? random.Int(1, 48) : 16 * random.Int(1, 2);
  c.kernel = {random.Int(3, 6), random.Int(3, 7)};
  c.strides = {random.Int(1, 3), random.Int(1, 3)};
  c.dilations = {random.Int(1, 2), 1};
  c.pads = {random.Int(0, 3), random.Int(0, 4), random.Int(0, 3), random.Int(0, 4)};
  c.height = (c.kernel[0] - 1) * c.dilations[0] + random.Int(20, 30);
  c.width = c.kernel[1] + 48 * c.strides[1];
  c.scaled_weights = false;
  return c;
}

void CheckLargeCases(Form form, int count, bool specials) {
  int using_unit = 0;
  ForSeeds(count, [&](std::mt19937& seeds) {
    Random random(seeds());
    ConvCase c = form == Form::kPlanes ? LargeCase(random) : LargeBlockedCase(random);
    c.specials = specials;
    if (specials) c.activation = "";
    using_unit += UsesUnit(c) ? 1 : 0;
    CheckConv(random, c);
  });
  EXPECT_GT(using_unit, count / 2);
}

TEST(SplitImageConv2d, AgreesWithNaiveConvolution) {
  CheckLargeCases(Form::kPlanes, 6, false);
  CheckLargeCases(Form::kBlocked, 6, false);
}

TEST(SplitImageConv2d, ComputesWhatIsNotFiniteWithoutTheUnit) {
  CheckLargeCases(Form::kPlanes, 4, true);
  CheckLargeCases(Form::kBlocked, 4, true);
}

TEST(SplitImageConv2d, AgreesOnBlocksOfChannels) {
  Random random(3);
  const ConvCase halving{.channels = 16,
                         .outs = 32,
                         .height = 40,
                         .width = 96,
                         .kernel = {3, 3},
                         .strides = {2, 2},
                         .pads = {1, 1, 1, 1},
                         .activation = "relu",
                         .bias = true,
                         .residual = true};
  EXPECT_TRUE(UsesUnit(halving));
  CheckConv(random, halving);
  ConvCase c = halving;
  c.channels = 21;
  c.half_weights = true;
  EXPECT_TRUE(UsesUnit(c)) << "spare channels";
  CheckConv(random, c);
  c = halving;
  c.kernel = {21, 11};
  c.height = 41;
  c.width = 60;
  c.strides = {2, 1};
  c.pads = {10, 5, 10, 5};
  c.outs = 16;
  EXPECT_TRUE(UsesUnit(c)) << "many steps";
  CheckConv(random, c);
  c = halving;
  c.channels = 128;
  c.outs = 256;
  EXPECT_FALSE(UsesUnit(c)) << "rows of products are faster";
  c = halving;
  c.dilations = {1, 2};
  EXPECT_FALSE(UsesUnit(c)) << "taps do not lie side by side";
  c = halving;
  c.height = 1;
  c.width = 2000;
  c.kernel = {1, 3};
  c.pads = {0, 1, 0, 1};
  EXPECT_FALSE(UsesUnit(c)) << "one row, which threads could not share";
  c = {.channels = 16384, .outs = 16, .kernel = {2, 1}};
  c.dilations = {(1 << 30) - 1, 1};
  c.pads = {(1 << 30) - 1, (1 << 20) - 1, 0, 0};
  EXPECT_FALSE(UsesUnit(c)) << "2^64 numbers";
}

TEST(SplitImageConv2d, AgreesOnFirstLayersOfNetworks) {
  Random random(1);
  ConvCase c{.form = Form::kPlanes,
             .batch = 2,
             .channels = 3,
             .outs = 64,
             .height = 40,
             .width = 75,
             .kernel = {7, 7},
             .strides = {2, 2},
             .pads = {3, 3, 3, 3},
             .activation = "relu",
             .bias = true};
  EXPECT_TRUE(UsesUnit(c));
  CheckConv(random, c);
  // Of patches side by side, a tile of which ends behind the row.
  c = {.form = Form::kPlanes,
       .channels = 3,
       .outs = 40,
       .height = 224,
       .width = 224,
       .kernel = {16, 16},
       .strides = {16, 16},
       .bias = true,
       .residual = true,
       .half_weights = true};
  EXPECT_TRUE(UsesUnit(c));
  CheckConv(random, c);
}

TEST(SplitImageConv2d, AgreesOnUnusualWindows) {
  Random random(2);
  const ConvCase large{.form = Form::kPlanes,
                       .channels = 4,
                       .outs = 35,
                       .height = 30,
                       .width = 90,
                       .kernel = {9, 9},
                       .bias = true};
  ConvCase c = large;
  c.channels = 1;
  c.kernel = {9, 15};
  EXPECT_TRUE(UsesUnit(c)) << "one plane: every second number is spare";
  CheckConv(random, c);
  c = large;
  c.kernel = {7, 17};
  EXPECT_TRUE(UsesUnit(c)) << "34 pairs in three steps of 12";
  CheckConv(random, c);
  c.specials = true;
  CheckConv(random, c);
  c = large;
  c.kernel = {8, 8};
  c.strides = {3, 11};
  c.width = 200;
  EXPECT_TRUE(UsesUnit(c)) << "windows with gaps between them";
  CheckConv(random, c);
  c = large;
  c.width = 6;
  c.pads = {2, 60, 3, 40};
  EXPECT_TRUE(UsesUnit(c)) << "pads wider than the image";
  CheckConv(random, c);
}

TEST(SplitImageConv2d, IsNotChosenWhereItGainsNothing) {
  const ConvCase large{.form = Form::kPlanes,
                       .channels = 3,
                       .outs = 64,
                       .height = 100,
                       .width = 100,
                       .kernel = {7, 7}};
  EXPECT_TRUE(UsesUnit(large));
  ConvCase c = large;
  c.kernel = {3, 3};
  EXPECT_FALSE(UsesUnit(c)) << "most of a step is zeros";
  c = large;
  c.dilations = {1, 2};
  EXPECT_FALSE(UsesUnit(c)) << "taps do not lie side by side";
  c = large;
  c.channels = 5;
  EXPECT_FALSE(UsesUnit(c)) << "more than four planes";
  c = large;
  c.height = 200;
  c.kernel = {65, 7};
  EXPECT_FALSE(UsesUnit(c)) << "too many steps";
  c = large;
  c.height = c.width = 7;
  EXPECT_FALSE(UsesUnit(c)) << "a single pixel";
}

}  // namespace
}  // namespace poprt::kernels::testing
