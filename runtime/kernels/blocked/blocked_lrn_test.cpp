#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "runtime/kernels/blocked/blocked_testing.hpp"
#include "runtime/kernels/blocked/pack_blocked.hpp"

namespace poprt::kernels::testing {
namespace {

BoundKernel BindLrn(const KernelCall& call, const InnerLoops&) { return BindBlockedLrn(call); }

struct LrnCase {
  Shape x;  ///< blocked
  std::int64_t channels;
  std::int64_t size;
  float beta = 0.75F;
};

/// Zeros in spare lanes.
std::vector<Expected> NaiveLrn(const LrnCase& c, const Values& x) {
  std::vector<Expected> all(x.size());
  ForEach({c.x[0], c.channels, c.x[2], c.x[3]}, [&](const Index& at) {
    double squares = 0;
    for (std::int64_t j = 0; j < c.channels; ++j) {
      if (j < at[1] - (c.size - 1) / 2 || j > at[1] + c.size / 2) continue;
      const double other = x[BlockedPosition{at[0], j, at[2], at[3]}.In(c.x)];
      squares += other * other;
    }
    const std::size_t i = BlockedPosition{at[0], at[1], at[2], at[3]}.In(c.x);
    const double base = 1.5 + 0.5 / static_cast<double>(c.size) * squares;
    all[i].Add(x[i] * std::pow(base, -static_cast<double>(c.beta)));
  });
  return all;
}

void CheckLrn(Random& random, const LrnCase& c) {
  const Tensor x = random.Values({ElementType::kFloat32, c.x});
  const Attributes attributes{{"channels", c.channels},
                              {"size", c.size},
                              {"alpha", 0.5F},
                              {"beta", c.beta},
                              {"bias", 1.5F}};
  ExpectPacked(BindLrn, {x}, x.type(), attributes, NaiveLrn(c, Doubles(x)));
}

TEST(BlockedLrn, AgreesWithNaiveLrnOnRandomSizes) {
  ForSeeds(40, [](std::mt19937& seeds) {
    Random random(seeds());
    const std::int64_t channels = random.Int(1, 50);
    CheckLrn(random, {.x = {random.Int(1, 3), BlocksOf(channels), random.Int(1, 9),
                            random.Int(1, 20), kBlock},
                      .channels = channels,
                      .size = random.Int(1, 9),
                      .beta = random.Flip() ? 0.75F : 0.6F});
  });
}

TEST(BlockedLrn, TheWindowMayBeLargerThanTheImageHasChannels) {
  Random random(1);
  CheckLrn(random, {.x = {1, 1, 2, 3, kBlock}, .channels = 5, .size = std::int64_t{1} << 40});
}

TEST(BlockedLrn, ImagesOfNothingTakeNoMemory) {
  constexpr std::int64_t kChannels = std::int64_t{1} << 62;
  const TensorType x{ElementType::kFloat32, {0, kChannels / kBlock, 1, 1, kBlock}};
  const BoundKernel kernel =
      BindBlockedLrn({.inputs = {x},
                      .outputs = {x},
                      .attributes = {{"channels", kChannels}, {"size", kChannels}}});
  EXPECT_EQ(kernel.scratch_bytes, 0U);
}

TEST(BlockedLrn, BindRejectsWhatDoesNotFit) {
  const TensorType x{ElementType::kFloat32, {1, 2, 3, 4, kBlock}};
  const auto error = [&](const TensorType& y, const Attributes& attributes) {
    return BindError(BindLrn, {.inputs = {x}, .outputs = {y}, .attributes = attributes});
  };
  EXPECT_EQ(error(x, {{"channels", std::int64_t{20}}, {"size", std::int64_t{5}}}), "");
  EXPECT_NE(error(x, {{"channels", std::int64_t{40}}, {"size", std::int64_t{5}}}), "");
  EXPECT_NE(error(x, {{"channels", std::int64_t{20}}, {"size", std::int64_t{0}}}), "");
  EXPECT_EQ(error({ElementType::kFloat32, {1, 2, 3, 5, kBlock}},
                  {{"channels", std::int64_t{20}}, {"size", std::int64_t{5}}}),
            "output 0 is float32[1, 2, 3, 5, 16], expected float32[1, 2, 3, 4, 16]");
}

}  // namespace
}  // namespace poprt::kernels::testing
