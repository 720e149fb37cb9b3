#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "runtime/kernels/blocked/blocked_testing.hpp"

namespace poprt::kernels::testing {
namespace {

struct MomentsCase {
  Shape x;  ///< blocked
  std::int64_t channels;
  std::int64_t groups;
  double center = 0;  ///< about which the numbers are
};

Attributes AttributesOf(const MomentsCase& c) {
  return {{"channels", c.channels}, {"groups", c.groups}, {"epsilon", 1e-3F}};
}

/// Both results in one tensor, which the tools of other tests run.
BoundKernel BindBoth(const KernelCall& call, const InnerLoops& loops) {
  KernelCall both = call;
  const Shape& shape = call.outputs[0].shape;
  const TensorType half{ElementType::kFloat32, {shape.begin() + 1, shape.end()}};
  both.outputs = {half, half};
  const BoundKernel moments = BindBlockedMoments(both, loops.conv);
  return {.run =
              [run = moments.run, bytes = half.bytes()](const KernelArguments& args) {
                const std::array<std::byte*, 2> outputs{args.outputs[0], args.outputs[0] + bytes};
                KernelArguments parts = args;
                parts.outputs = outputs;
                run(parts);
              },
          .scratch_bytes = moments.scratch_bytes};
}

/// Means of all channels, then what they are multiplied by.
std::vector<Expected> NaiveMoments(const MomentsCase& c, const Values& x, const Values& scale) {
  const std::int64_t lanes = c.x[1] * kBlock;
  const std::int64_t count = c.channels / c.groups;
  const double numbers = static_cast<double>(count * c.x[2] * c.x[3]);
  std::vector<Expected> all(static_cast<std::size_t>(2 * c.x[0] * lanes));
  for (std::int64_t image = 0; image < c.x[0]; ++image) {
    for (std::int64_t channel = 0; channel < c.channels; ++channel) {
      const auto fold = [&](const auto& f) {
        double sum = 0;
        ForEach({count, c.x[2], c.x[3]}, [&](const Index& at) {
          const std::int64_t other = channel / count * count + at[0];
          sum += f(x[BlockedPosition{image, other, at[1], at[2]}.In(c.x)]);
        });
        return sum / numbers;
      };
      const double mean = fold([](double a) { return a; });
      const double variance = fold([=](double a) { return (a - mean) * (a - mean); });
      const auto at = static_cast<std::size_t>(image * lanes + channel);
      all[at] = {mean, std::abs(c.center) + 1};
      all[at + all.size() / 2] = {
          scale[static_cast<std::size_t>(channel)] / std::sqrt(variance + 1e-3), 10};
    }
  }
  return all;
}

void CheckMoments(Random& random, const MomentsCase& c) {
  Tensor x = random.Values({ElementType::kFloat32, c.x});
  for (float& a : x.as_mutable<float>()) a += static_cast<float>(c.center);
  const Tensor scale = random.Values({ElementType::kFloat32, {c.x[1] * kBlock}});
  ExpectPacked(BindBoth, {x, scale}, {ElementType::kFloat32, {2, c.x[0], c.x[1], 1, 1, kBlock}},
               AttributesOf(c), NaiveMoments(c, Doubles(x), Doubles(scale)));
}

TEST(BlockedMoments, AgreesWithNaiveMomentsOnRandomSizes) {
  ForSeeds(40, [](std::mt19937& seeds) {
    Random random(seeds());
    MomentsCase c{
        .x = {random.Int(1, 3), random.Int(1, 3), random.Int(1, 20), random.Int(1, 40), kBlock},
        .channels = 0,
        .groups = 0};
    const std::int64_t of_group = random.Flip() ? 1 : random.Int(1, 20);
    c.groups = ((c.x[1] - 1) * kBlock + of_group) / of_group;
    c.channels = c.groups * of_group;
    if (c.channels <= (c.x[1] - 1) * kBlock || c.channels > c.x[1] * kBlock) return;
    CheckMoments(random, c);
  });
}

/// Squares of the numbers themselves would leave nothing of the variance.
TEST(BlockedMoments, ALargeMeanLeavesTheVariance) {
  Random random(3);
  CheckMoments(random, {.x = {1, 1, 30, 30, kBlock}, .channels = 16, .groups = 16, .center = 300});
  CheckMoments(random, {.x = {1, 2, 30, 30, kBlock}, .channels = 24, .groups = 2, .center = -500});
}

TEST(BlockedMoments, BindRejectsWhatDoesNotFit) {
  const TensorType x{ElementType::kFloat32, {1, 2, 3, 4, kBlock}};
  const TensorType out{ElementType::kFloat32, {2, 1, 2, 1, 1, kBlock}};
  const TensorType scale{ElementType::kFloat32, {2 * kBlock}};
  const auto error = [&](const TensorType& of_scale, const Attributes& attributes) {
    return BindError(BindBoth,
                     {.inputs = {x, of_scale}, .outputs = {out}, .attributes = attributes});
  };
  EXPECT_EQ(error(scale, {{"channels", std::int64_t{20}}}), "");
  EXPECT_EQ(error(scale, {{"channels", std::int64_t{20}}, {"groups", std::int64_t{3}}}),
            "attribute 'groups' is 3, which does not divide 20 channels");
  EXPECT_EQ(error({ElementType::kFloat32, {20}}, {{"channels", std::int64_t{20}}}),
            "the scale, input 1, is float32[20], expected float32[32]");
  EXPECT_NE(error(scale, {{"channels", std::int64_t{40}}}), "");
}

}  // namespace
}  // namespace poprt::kernels::testing
