#include "runtime/kernels/blocked/winograd_conv2d.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "runtime/kernels/blocked/conv_micro_kernels.hpp"
#include "runtime/kernels/blocked/pack_blocked.hpp"
#include "runtime/kernels/blocked/pack_winograd.hpp"
#include "runtime/kernels/blocked/winograd_testing.hpp"
#include "runtime/kernels/packed/packed_testing.hpp"
#include "runtime/kernels/packed/scaled_panels_testing.hpp"

namespace poprt::kernels::testing {
namespace {

using ::testing::HasSubstr;

/// The largest difference of the channels that are not spare to act(expected).
double LargestError(const WinogradCase& c, const Tensor& result,
                    const std::vector<Expected>& expected) {
  const Shape out = c.OutputExtents();
  double largest = 0;
  std::size_t i = 0;
  ForEach({c.batch, c.outs, out[0], out[1]}, [&](const Index& at) {
    const double wanted = ReferenceActivation(c.activation, expected[i++].value);
    const double error =
        std::abs(result.as<float>()[PixelAt(result, {at[0], at[1], at[2], at[3]})] - wanted);
    largest = std::isfinite(error) ? std::max(largest, error) : HUGE_VAL;
  });
  return largest;
}

double LargestMagnitude(const std::vector<Expected>& expected) {
  double largest = 0;
  for (const Expected& e : expected) largest = std::max(largest, e.magnitude);
  return largest;
}

void CheckWinograd(Random& random, const WinogradCase& c) {
  const WinogradOperands operands = RandomOperands(random, c);
  const std::vector<Expected> expected = NaiveConv(c, operands);
  const std::vector<Tensor> inputs{operands.x, PackWinogradWeights(operands.w, c.tile),
                                   operands.bias, operands.residual};
  for (const InnerLoops* loops : AllInnerLoops()) {
    SCOPED_TRACE(loops->instruction_set);
    const Tensor result =
        RunPacked(BindWinogradConv2d, inputs, c.Output(), c.KernelAttributes(), *loops);
    // A tile's error comes from all of its pixels, not only from those that one output sums. A
    // matrix unit rounds what it multiplies.
    const double of_magnitude = loops->matrix_unit != nullptr ? 1e-5 : 2e-6;
    EXPECT_LE(LargestError(c, result, expected), of_magnitude * LargestMagnitude(expected) + 1e-6);
    for (const float value : result.as<float>()) ASSERT_TRUE(std::isfinite(value));
    for (const int threads : {2, 3}) {
      EXPECT_TRUE(result == RunPacked(BindWinogradConv2d, inputs, c.Output(), c.KernelAttributes(),
                                      *loops, threads))
          << "other bits with " << threads << " threads";
    }
  }
}

TEST(WinogradConv2d, AgreesWithNaiveConvolutionOnRandomSizes) {
  ForSeeds(60, [&](std::mt19937& seeds) {
    Random random(seeds());
    const Ints dilations = random.Flip() ? Ints{1, 1} : Ints{random.Int(1, 4), random.Int(1, 4)};
    const Ints kernel = random.Flip()   ? Ints{3, 3}
                        : random.Flip() ? Ints{random.Int(1, 8), random.Int(3, 8)}
                                        : Ints{random.Int(3, 8), random.Int(1, 8)};
    const bool is_line = std::min(kernel[0], kernel[1]) < 3;
    CheckWinograd(random,
                  {.tile = is_line || random.Flip() ? 4 : 2,
                   .batch = random.Int(1, 2),
                   .channels = random.Int(1, 40),
                   .outs = random.Int(1, 40),
                   .height = (kernel[0] - 1) * dilations[0] + random.Int(1, 12),
                   .width = (kernel[1] - 1) * dilations[1] + random.Int(1, 12),
                   .kernel = kernel,
                   .pads = {random.Int(0, 2), random.Int(0, 2), random.Int(0, 2), random.Int(0, 2)},
                   .dilations = dilations,
                   .activation = random.Of(AllActivations()),
                   .bias = random.Flip(),
                   .residual = random.Flip()});
  });
}

TEST(WinogradConv2d, AgreesOnSizesOfNetworks) {
  for (const std::int64_t tile : {2, 4}) {
    SCOPED_TRACE(tile);
    Random random(1);
    CheckWinograd(random, {.tile = tile,
                           .batch = 2,
                           .channels = 70,
                           .outs = 20,
                           .height = 7,
                           .width = 7,
                           .activation = "relu",
                           .bias = true,
                           .residual = true});
    CheckWinograd(random, {.tile = tile, .channels = 3, .outs = 33, .height = 13, .width = 13});
    CheckWinograd(random, {.tile = tile, .channels = 5, .outs = 2, .height = 1, .width = 50});
    CheckWinograd(random, {.tile = tile, .channels = 5, .outs = 2, .height = 50, .width = 1});
  }
}

TEST(WinogradConv2d, AgreesWhenTilesDepthAndChannelsAreCut) {
  Random random(2);
  CheckWinograd(random, {.tile = 2, .channels = 300, .outs = 70, .height = 5, .width = 9});
  CheckWinograd(random, {.tile = 4, .channels = 520, .outs = 40, .height = 8, .width = 7});
  // Many strips, of which each thread takes some.
  CheckWinograd(random, {.tile = 2, .channels = 3, .outs = 18, .height = 39, .width = 50});
}

TEST(WinogradConv2d, GroupsReadTheirOwnChannels) {
  Random random(6);
  for (const std::int64_t tile : {2, 4}) {
    SCOPED_TRACE(tile);
    CheckWinograd(random, {.tile = tile,
                           .channels = 96,
                           .outs = 48,
                           .group = 3,
                           .height = 9,
                           .width = 10,
                           .bias = true,
                           .residual = true});
    CheckWinograd(random, {.tile = tile,
                           .batch = 2,
                           .channels = 32,
                           .outs = 64,
                           .group = 2,
                           .height = 5,
                           .width = 5});
  }
  // Two threads share out the outputs of a group, three have one each, four share its inputs, too.
  // Of groups of one block each thread has some.
  CheckWinograd(
      random, {.channels = 96, .outs = 240, .group = 3, .height = 6, .width = 7, .residual = true});
  CheckWinograd(random, {.channels = 80, .outs = 80, .group = 5, .height = 6, .width = 7});
}

TEST(WinogradConv2d, GroupsReadTheirOwnChannelsForEveryPartOfAFilter) {
  Random random(8);
  for (const Ints& kernel : {Ints{5, 5}, Ints{1, 7}, Ints{4, 2}}) {
    CheckWinograd(random, {.channels = 96,
                           .outs = 48,
                           .group = 3,
                           .height = 9,
                           .width = 10,
                           .kernel = kernel,
                           .pads = {2, 2, 2, 2},
                           .residual = true});
  }
  // Threads share out the output blocks of one strip.
  CheckWinograd(random, {.channels = 20, .outs = 70, .height = 1, .width = 40, .kernel = {1, 7}});
  CheckWinograd(random, {.channels = 32, .outs = 70, .height = 9, .width = 9, .kernel = {5, 5}});
  // The depth is cut within each part.
  CheckWinograd(random, {.channels = 300, .outs = 20, .height = 1, .width = 30, .kernel = {1, 5}});
}

TEST(WinogradConv2d, HasTheSameBitsWithScaledWeightsAsWithTheirNumbers) {
  const WinogradCase cases[] = {
      {.tile = 2, .channels = 300, .outs = 70, .height = 9, .width = 9, .residual = true},
      {.tile = 2, .channels = 35, .outs = 70, .height = 3, .width = 3},  // four panels at once
      {.tile = 4, .batch = 3, .channels = 96, .outs = 160, .group = 2, .height = 13, .width = 30},
      {.tile = 4, .channels = 160, .outs = 40, .height = 6, .width = 9, .kernel = {5, 5}},
      {.tile = 4, .channels = 33, .outs = 18, .height = 1, .width = 40, .kernel = {1, 3}}};
  Random random(9);
  for (const WinogradCase& c : cases) {
    const WinogradOperands operands = RandomOperands(random, c);
    const Tensor packed = PackWinogradWeights(operands.w, c.tile);
    const Tensor scaled = Scaled(packed);
    const Tensor numbers(packed.type(), Unscaled(scaled, packed.shape()[2]).data());
    for (const InnerLoops* loops : AllInnerLoops()) {
      if (loops->matrix_unit != nullptr) continue;  // which may take one of them back to taps
      for (const int threads : {1, 3}) {
        SCOPED_TRACE(std::string(loops->instruction_set) + ", tile " + std::to_string(c.tile) +
                     ", channels " + std::to_string(c.channels) + ", threads " +
                     std::to_string(threads));
        const auto run = [&](const Tensor& weights) {
          return RunPacked(BindWinogradConv2d,
                           {operands.x, weights, operands.bias, operands.residual}, c.Output(),
                           c.KernelAttributes(), *loops, threads);
        };
        EXPECT_TRUE(run(scaled) == run(numbers));
      }
    }
  }
}

KernelCall GoodCall() {
  return {.inputs = {{ElementType::kFloat32, {1, 2, 8, 8, 16}},
                     {ElementType::kFloat32, {3, 36, 20, 16}}},
          .outputs = {{ElementType::kFloat32, {1, 3, 6, 6, 16}}},
          .attributes = {{"tile", std::int64_t{4}},
                         {"in_channels", std::int64_t{20}},
                         {"out_channels", std::int64_t{40}},
                         {"kernel_shape", Ints{3, 3}}}};
}

TEST(WinogradConv2d, ScaledWeightsAreCutBetweenBlocksOfRows) {
  KernelCall call = GoodCall();
  call.inputs[1] = {ElementType::kInt32, {3, 36, 11, 16}};
  call.attributes.set("block_sizes", Ints{24, 10});
  EXPECT_EQ(BindWinogradConv2d(call, BestInnerLoops()).block_sizes, (Ints{4, 20}));
}

TEST(WinogradConv2d, PaddingMayBeWiderThanATile) {
  Random random(3);
  for (const std::int64_t tile : {2, 4}) {
    CheckWinograd(random, {.tile = tile,
                           .channels = 2,
                           .outs = 3,
                           .height = 2,
                           .width = 3,
                           .pads = {9, 20, 13, 7},
                           .bias = true});
  }
}

TEST(WinogradConv2d, TapsMayBeFurtherApartThanOutputs) {
  Random random(7);
  for (const std::int64_t tile : {2, 4}) {
    CheckWinograd(random, {.tile = tile,
                           .channels = 20,
                           .outs = 3,
                           .height = 5,
                           .width = 19,
                           .pads = {9, 3, 9, 3},
                           .dilations = {9, 3},
                           .residual = true});
  }
}

TEST(WinogradConv2d, NothingToDo) {
  Random random(4);
  CheckWinograd(random, {.batch = 0, .channels = 3, .outs = 5, .height = 4, .width = 4});
  // Padding around nothing.
  CheckWinograd(
      random,
      {.channels = 3, .outs = 5, .height = 0, .width = 4, .pads = {2, 1, 2, 1}, .bias = true});
}

TEST(WinogradConv2d, TilesOfNothingTakeNoMemory) {
  constexpr std::int64_t kSide = std::int64_t{1} << 29;
  const KernelCall call{.inputs = {{ElementType::kFloat32, {0, 1, kSide, 4, 16}},
                                   {ElementType::kFloat32, {1, 36, 16, 16}}},
                        .outputs = {{ElementType::kFloat32, {0, 1, kSide - 2, 2, 16}}},
                        .attributes = {{"tile", std::int64_t{4}},
                                       {"in_channels", std::int64_t{16}},
                                       {"out_channels", std::int64_t{16}},
                                       {"kernel_shape", Ints{3, 3}}}};
  EXPECT_EQ(BindWinogradConv2d(call, BestInnerLoops()).scratch_bytes, 0U);
}

/// Errors that users may rely on, relative to the largest output.
TEST(WinogradConv2d, ErrorStaysWithinItsBound) {
  struct Filter {
    std::int64_t tile;
    Ints kernel;
  };
  const Filter filters[] = {{2, {3, 3}}, {4, {3, 3}}, {4, {1, 3}}, {4, {1, 11}}, {4, {5, 5}}};
  for (const std::int64_t channels : {16, 256}) {
    for (const auto& [tile, kernel] : filters) {
      SCOPED_TRACE(ToString(Shape(kernel)) + ", tile " + std::to_string(tile) + ", channels " +
                   std::to_string(channels));
      Random random(5);
      const WinogradCase c{.tile = tile,
                           .channels = channels,
                           .outs = 16,
                           .height = 12,
                           .width = 12,
                           .kernel = kernel};
      const WinogradOperands operands = RandomOperands(random, c);
      const std::vector<Expected> expected = NaiveConv(c, operands);
      double largest = 0;
      for (const Expected& e : expected) largest = std::max(largest, std::abs(e.value));
      const auto error = [&](const Tensor& weights, const InnerLoops& loops) {
        const Tensor result = RunPacked(BindWinogradConv2d, {operands.x, weights}, c.Output(),
                                        c.KernelAttributes(), loops);
        return LargestError(c, result, expected) / largest;
      };
      const Tensor packed = PackWinogradWeights(operands.w, tile);
      for (const InnerLoops* loops : AllInnerLoops()) {
        EXPECT_LE(error(packed, *loops), tile == 2 ? 2e-6 : 6e-6);
        if (tile == 2) {
          EXPECT_LE(error(Scaled(packed), *loops), 4e-5);
        }
      }
    }
  }
}

std::string ErrorWith(std::string_view attribute, AttributeValue value) {
  KernelCall call = GoodCall();
  call.attributes.set(std::string(attribute), std::move(value));
  return BindError(BindWinogradConv2d, call);
}

TEST(WinogradConv2d, BindRejectsAttributesThatDoNotFit) {
  EXPECT_EQ(BindError(BindWinogradConv2d, GoodCall()), "");
  EXPECT_EQ(ErrorWith("tile", std::int64_t{3}), "attribute tile is 3, allowed are 2 and 4");
  EXPECT_EQ(ErrorWith("tile", std::int64_t{0}), "attribute tile is 0, it must be at least 1");
  EXPECT_EQ(ErrorWith("tile", std::int64_t{2}),
            "the weights, input 1, is float32[3, 36, 20, 16], expected float32[3, 16, 20, 16]");
  EXPECT_EQ(ErrorWith("in_channels", std::int64_t{33}),
            "the weights, input 1, is float32[3, 36, 20, 16], expected float32[3, 36, 33, 16]");
  EXPECT_THAT(ErrorWith("in_channels", std::int64_t{-1}), HasSubstr("must be at least 1"));
  EXPECT_THAT(ErrorWith("out_channels", std::int64_t{1} << 62), HasSubstr("the weights, input 1,"));
  EXPECT_THAT(ErrorWith("kernel_shape", Ints{3, 5}), HasSubstr("the weights, input 1, is"));
  EXPECT_EQ(
      ErrorWith("kernel_shape", Ints{2, 2}),
      "kernel_shape is [2, 2], Winograd convolution with tile 4 needs filters of 1 to 256 taps "
      "along two axes, of at least 3 along one");
  for (const std::int64_t group : {-1, 0, 2, 3}) {
    EXPECT_EQ(ErrorWith("group", group),
              "attribute group is " + std::to_string(group) +
                  ", which does not cut 20 input and 40 output channels into whole blocks of 16");
  }
  EXPECT_EQ(ErrorWith("strides", Ints{1, 2}), "Winograd convolution needs strides of 1");
  EXPECT_EQ(ErrorWith("dilations", Ints{2, 1}),
            "output 0 is float32[1, 3, 6, 6, 16], expected float32[1, 3, 4, 6, 16]");
  EXPECT_EQ(ErrorWith("pads", Ints{1, 1, 1, 1}),
            "output 0 is float32[1, 3, 6, 6, 16], expected float32[1, 3, 8, 8, 16]");
  EXPECT_THAT(ErrorWith("pads", Ints{0, 0, 0, -1}), HasSubstr("attribute 'pads' holds -1"));
  EXPECT_THAT(ErrorWith("activation", std::string("swim")), HasSubstr("activation is 'swim'"));
}

TEST(WinogradConv2d, BindRejectsOperandsThatDoNotFit) {
  KernelCall call = GoodCall();
  call.inputs[0].shape = {1, 2, 8, 8};
  EXPECT_EQ(BindError(BindWinogradConv2d, call),
            "input 0 is float32[1, 2, 8, 8], expected is a blocked image, float32[batch, blocks, "
            "height, width, 16]");
  call = GoodCall();
  call.inputs[0].shape = {1, 1, 8, 8, 16};
  EXPECT_EQ(BindError(BindWinogradConv2d, call),
            "input 0 is float32[1, 1, 8, 8, 16], expected float32[1, 2, 8, 8, 16]");
  call = GoodCall();
  call.inputs[0].element = ElementType::kFloat16;
  EXPECT_THAT(BindError(BindWinogradConv2d, call), HasSubstr("input 0 is float16"));
  call = GoodCall();
  call.inputs[1] = {ElementType::kInt32, {3, 36, 20, 16}};
  EXPECT_EQ(BindError(BindWinogradConv2d, call),
            "the weights, input 1, is int32[3, 36, 20, 16], expected int32[3, 36, 11, 16]");
  call.inputs[1] = {ElementType::kInt32, {3, 36, 42, 16}};
  call.attributes.set("kernel_shape", Ints{5, 5});
  call.attributes.set("pads", Ints{1, 1, 1, 1});
  EXPECT_EQ(BindError(BindWinogradConv2d, call),
            "scaled weights are for whole blocks of input channels");
  call = GoodCall();
  call.inputs.push_back({ElementType::kFloat32, {40}});
  EXPECT_EQ(BindError(BindWinogradConv2d, call),
            "the bias, input 2, is float32[40], expected float32[48]");
  call = GoodCall();
  call.inputs.push_back({});
  call.inputs.push_back({ElementType::kFloat32, {1, 3, 6, 6, 8}});
  EXPECT_THAT(BindError(BindWinogradConv2d, call), HasSubstr("the residual, input 3,"));
}

/// Whatever fits together but is too large must be refused, not overflow.
TEST(WinogradConv2d, BindRejectsWhatNeedsTooMuchScratch) {
  const std::int64_t channels = std::int64_t{1} << 53;
  const KernelCall call{.inputs = {{ElementType::kFloat32, {1, channels / 16, 3, 3, 16}},
                                   {ElementType::kFloat32, {1, 36, channels, 16}}},
                        .outputs = {{ElementType::kFloat32, {1, 1, 1, 1, 16}}},
                        .attributes = {{"tile", std::int64_t{4}},
                                       {"in_channels", channels},
                                       {"out_channels", std::int64_t{16}},
                                       {"kernel_shape", Ints{3, 3}}}};
  EXPECT_EQ(BindError(BindWinogradConv2d, call),
            "needs more than 1 GiB of scratch memory per thread");
}

}  // namespace
}  // namespace poprt::kernels::testing
