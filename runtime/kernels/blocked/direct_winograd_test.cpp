#include "runtime/kernels/blocked/direct_winograd.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "runtime/kernels/blocked/pack_winograd.hpp"
#include "runtime/kernels/blocked/winograd_testing.hpp"
#include "runtime/kernels/packed/scaled_panels_testing.hpp"

namespace poprt::kernels::testing {
namespace {

SplitConvShape ShapeOnUnit(const WinogradCase& c) {
  const Shape out = c.OutputExtents();
  return {.in = {c.batch, BlocksOf(c.channels), c.height, c.width},
          .out = {c.batch, BlocksOf(c.outs), out[0], out[1]},
          .group = c.group,
          .in_blocks = BlocksOf(c.channels) / c.group,
          .out_blocks = BlocksOf(c.outs) / c.group,
          .window = ResolveWindow(c.KernelAttributes(), {c.height, c.width}, c.kernel),
          .are_transformed = true,
          .panels = {ElementType::kInt32, c.channels / c.group * 9}};
}

/// Scaled weights of tile 2 are taken back to what they were. Of what is not finite exactly what is
/// made from it is not.
void CheckOnUnit(Random& random, const WinogradCase& c, bool specials) {
  WinogradOperands operands = RandomOperands(random, c);
  if (specials) {
    const auto x = operands.x.as_mutable<float>();
    x[x.size() / 2] = std::numeric_limits<float>::infinity();
    x[x.size() - 1] = std::numeric_limits<float>::quiet_NaN();
  }
  const std::vector<Expected> expected = NaiveConv(c, operands);
  const std::vector<Tensor> inputs{operands.x, Scaled(PackWinogradWeights(operands.w, 2)),
                                   operands.bias, operands.residual};
  const Attributes attributes = c.KernelAttributes();
  const Shape out = c.OutputExtents();
  for (const InnerLoops* loops : AllInnerLoops()) {
    if (loops->matrix_unit == nullptr) continue;
    SCOPED_TRACE(loops->instruction_set);
    ASSERT_TRUE(DirectWinograd::Plan(*loops, ShapeOnUnit(c), attributes).has_value());
    const Tensor result = RunPacked(BindWinogradConv2d, inputs, c.Output(), attributes, *loops);
    std::size_t i = 0;
    ForEach({c.batch, c.outs, out[0], out[1]}, [&](const Index& at) {
      const float found = result.as<float>()[PixelAt(result, {at[0], at[1], at[2], at[3]})];
      const Expected& wanted = expected[i++];
      ASSERT_EQ(std::isfinite(found), std::isfinite(wanted.value)) << i;
      if (!std::isfinite(found)) return;
      // Rounding to 16 bits of the largest of 64, four of which may make a weight, and on the unit.
      ASSERT_NEAR(found, ReferenceActivation(c.activation, wanted.value),
                  0x1p-15 * wanted.magnitude + 1e-6)
          << i;
    });
    for (const int threads : {2, 3}) {
      EXPECT_TRUE(result ==
                  RunPacked(BindWinogradConv2d, inputs, c.Output(), attributes, *loops, threads))
          << "other bits with " << threads << " threads";
    }
  }
}

TEST(DirectWinograd, AgreesWithNaiveConvolution) {
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
  CheckOnUnit(random, c, false);
  WinogradCase groups = c;
  groups.channels = groups.outs = 192;
  groups.group = 2;
  groups.dilations = {2, 1};
  groups.pads = {2, 0, 1, 1};
  CheckOnUnit(random, groups, false);
  // Without a unit, or of fewer pixels than a tile has rows.
  EXPECT_FALSE(DirectWinograd::Plan(PortableInnerLoops(), ShapeOnUnit(c), c.KernelAttributes()));
  WinogradCase small = c;
  small.height = small.width = 3;
  small.batch = 1;
  for (const InnerLoops* loops : AllInnerLoops()) {
    EXPECT_FALSE(DirectWinograd::Plan(*loops, ShapeOnUnit(small), small.KernelAttributes()));
  }
  WinogradCase linear = c;
  linear.activation = "";
  CheckOnUnit(random, linear, true);
}

}  // namespace
}  // namespace poprt::kernels::testing
