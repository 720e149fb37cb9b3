#include "runtime/kernels/blocked/direct_winograd.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "runtime/kernels/blocked/pack_winograd.hpp"
#include "runtime/kernels/blocked/winograd_testing.hpp"
#include "runtime/kernels/ceil_div.hpp"
#include "runtime/kernels/packed/scaled_panels_testing.hpp"

namespace poprt::kernels::testing {
namespace {

std::int64_t TilesAlong(std::int64_t pixels, const WinogradAxis& axis) {
  return CeilDiv(pixels, axis.tile);
}

DirectWinograd::Call CallOf(const WinogradCase& c, bool are_scaled) {
  const Shape out = c.OutputExtents();
  const WinogradFilter filter = RequireWinogradFilter(c.kernel, c.tile);
  return {.in = {c.batch, BlocksOf(c.channels), c.height, c.width},
          .out = {c.batch, BlocksOf(c.outs), out[0], out[1]},
          .group = c.group,
          .channels = c.channels / c.group,
          .window = ResolveWindow(c.KernelAttributes(), {c.height, c.width}, c.kernel),
          .filter = filter,
          .are_scaled = are_scaled,
          .tiles = TilesAlong(out[0], filter.rows) * TilesAlong(out[1], filter.columns)};
}

/// What a result may be off for each unit of its magnitude: rounded to 16 bits of the largest of
/// 64, four of which may make a weight, and on the unit.
double Tolerance(bool are_scaled) { return are_scaled ? 0x1p-15 : 0x1p-16; }

/// Times a weight the unit takes this for infinite.
constexpr float kLarge = 0x1p127F;

/// Weights are taken back to what they were. Of what is not finite exactly what is made from it is
/// not, and what only the unit's sums exceed is as large as it is.
void CheckOnUnit(Random& random, const WinogradCase& c, bool are_scaled, bool specials = false) {
  WinogradOperands operands = RandomOperands(random, c);
  if (specials) {
    const auto x = operands.x.as_mutable<float>();
    x[x.size() / 2] = std::numeric_limits<float>::infinity();
    x[x.size() - 1] = std::numeric_limits<float>::quiet_NaN();
    // Of the second and the last but one block of channels.
    const std::int64_t block_floats = c.height * c.width * kBlock;
    x[static_cast<std::size_t>(block_floats)] = kLarge;
    x[static_cast<std::size_t>((BlocksOf(c.channels) - 2) * block_floats + 5)] = -kLarge;
  }
  const std::vector<Expected> expected = NaiveConv(c, operands);
  const Tensor packed = PackWinogradWeights(operands.w, c.tile);
  const std::vector<Tensor> inputs{operands.x, are_scaled ? Scaled(packed) : packed, operands.bias,
                                   operands.residual};
  const Attributes attributes = c.KernelAttributes();
  const Shape out = c.OutputExtents();
  for (const InnerLoops* loops : AllInnerLoops()) {
    if (loops->matrix_unit == nullptr) continue;
    SCOPED_TRACE(loops->instruction_set);
    ASSERT_TRUE(DirectWinograd::Plan(*loops, CallOf(c, are_scaled), attributes).has_value());
    const Tensor result = RunPacked(BindWinogradConv2d, inputs, c.Output(), attributes, *loops);
    std::size_t i = 0;
    ForEach({c.batch, c.outs, out[0], out[1]}, [&](const Index& at) {
      const float found = result.as<float>()[PixelAt(result, {at[0], at[1], at[2], at[3]})];
      const Expected& wanted = expected[i++];
      ASSERT_EQ(std::isfinite(found), std::isfinite(wanted.value)) << i;
      if (!std::isfinite(found)) return;
      // Weights that are smaller than others are rounded as much.
      const bool is_large = wanted.magnitude > 0x1p64;
      const double rounded = are_scaled && is_large ? 4 * Tolerance(are_scaled) * kLarge : 0;
      ASSERT_NEAR(found, ReferenceActivation(c.activation, wanted.value),
                  Tolerance(are_scaled) * wanted.magnitude + rounded + 1e-6)
          << i;
    });
    for (const int threads : {2, 3}) {
      EXPECT_TRUE(result ==
                  RunPacked(BindWinogradConv2d, inputs, c.Output(), attributes, *loops, threads))
          << "other bits with " << threads << " threads";
    }
  }
}

TEST(DirectWinograd, AgreesWithNaiveConvolutionByScaledWeights) {
  Random random(10);
  // An odd number of blocks, so that the last step of the depth is half a one; more than one part.
  const WinogradCase c{.tile = 2,
                       .batch = 2,
                       .channels = 112,
                       .outs = 72,
                       .height = 11,
                       .width = 13,
                       .activation = "relu",
                       .bias = true,
                       .residual = true};
  CheckOnUnit(random, c, true);
  WinogradCase groups = c;
  groups.channels = groups.outs = 192;
  groups.group = 2;
  groups.dilations = {2, 1};
  groups.pads = {2, 0, 1, 1};
  CheckOnUnit(random, groups, true);
  // Without a unit, or of fewer pixels than a tile has rows.
  EXPECT_FALSE(DirectWinograd::Plan(PortableInnerLoops(), CallOf(c, true), c.KernelAttributes()));
  WinogradCase small = c;
  small.height = small.width = 3;
  small.batch = 1;
  for (const InnerLoops* loops : AllInnerLoops()) {
    EXPECT_FALSE(DirectWinograd::Plan(*loops, CallOf(small, true), small.KernelAttributes()));
  }
  WinogradCase linear = c;
  linear.activation = "";
  CheckOnUnit(random, linear, true, true);
}

/// Rows, columns and images of filters in one part and in several.
TEST(DirectWinograd, AgreesWithNaiveConvolutionByFloats) {
  Random random(11);
  const WinogradCase rows{.channels = 96,
                          .outs = 72,
                          .height = 1,
                          .width = 150,
                          .kernel = {1, 7},
                          .pads = {0, 3, 0, 5},
                          .activation = "relu",
                          .bias = true,
                          .residual = true};
  CheckOnUnit(random, rows, false);
  WinogradCase columns = rows;
  columns.batch = 2;
  columns.height = 90;
  columns.width = 2;
  columns.kernel = {11, 2};
  columns.pads = {9, 1, 11, 0};
  columns.dilations = {2, 1};
  CheckOnUnit(random, columns, false);
  // Some channels of the last block are spare.
  WinogradCase large{.channels = 120,
                     .outs = 200,
                     .height = 13,
                     .width = 12,
                     .kernel = {5, 7},
                     .pads = {2, 3, 2, 3},
                     .bias = true};
  CheckOnUnit(random, large, false);
  CheckOnUnit(random, large, false, true);
  large.kernel = {3, 3};
  large.pads = {1, 1, 1, 1};
  large.channels = large.outs = 480;
  large.group = 2;
  CheckOnUnit(random, large, false);
}

}  // namespace
}  // namespace poprt::kernels::testing
