#include "compiler/tuner/tune_block_sizes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/lower/schedule_for_test.hpp"
#include "runtime/kernels/packed/pack.hpp"

namespace poprt::tuner {
namespace {

using lower::Activation;
using testing::IsEmpty;

constexpr std::int64_t kRows = 192;
constexpr std::int64_t kDepth = 64;
constexpr std::int64_t kColumns = 512;

/// A product, by itself and in the body of another step.
lower::Schedule Products(const Ints& block_sizes) {
  lower::Schedule schedule;
  const TensorType weights = kernels::PackedGemmType(kDepth, kColumns, ElementType::kFloat32);
  schedule.buffers = {Activation({kRows, kDepth}),
                      {.type = weights, .constant = Tensor(weights)},
                      Activation({kRows, kColumns})};
  const lower::Step product{.name = "product",
                            .kernel = "gemm",
                            .inputs = {0, 1},
                            .outputs = {2},
                            .attributes = {{"n", kColumns}, {"block_sizes", block_sizes}}};
  lower::Step loop{.name = "loop", .kernel = "Loop", .inputs = {}, .outputs = {}, .attributes = {}};
  loop.bodies.push_back({.inputs = {}, .outputs = {}, .steps = {product}});
  schedule.steps = {product, loop};
  return schedule;
}

/// A tuner for which a use takes what `price` says of its block sizes.
template <typename F>
KernelTuner TunerWith(F price) {
  const auto measure =
      [price](std::span<const Workload> workloads) -> absl::StatusOr<std::vector<double>> {
    std::vector<double> times;
    for (const Workload& workload : workloads) {
      times.push_back(price(workload.uses.at(0).attributes.get_ints("block_sizes")));
    }
    return times;
  };
  return KernelTuner({"a processor", 1}, {}, measure, [](const std::string&) {});
}

Ints SizesOf(const lower::Step& step) { return step.attributes.get_ints("block_sizes"); }

TEST(TuneBlockSizesTest, MovesAsLongAsThatIsFaster) {
  lower::Schedule schedule = Products({192, 8, 64});
  KernelTuner tuner = TunerWith([](const Ints& sizes) {
    const auto rows = static_cast<double>(sizes[0]);
    return rows < 48 ? 100 : 10 + rows;  // least at 48
  });
  TuneBlockSizes(schedule, tuner);
  EXPECT_EQ(SizesOf(schedule.steps[0]), (Ints{48, 8, 64}));
  EXPECT_EQ(SizesOf(schedule.steps[1].bodies[0].steps[0]), (Ints{48, 8, 64}));

  ASSERT_EQ(tuner.report().choices.size(), 1U);
  const TunedChoice& choice = tuner.report().choices[0];
  EXPECT_EQ(choice.what, "blocks of gemm, float32[192, 64] to float32[192, 512]");
  EXPECT_EQ(choice.uses, 2);
  EXPECT_EQ(choice.expected, "192 x 8 x 64");
  EXPECT_EQ(choice.chosen, "48 x 8 x 64");
  EXPECT_EQ(tuner.report().GainMicroseconds(), 2 * (192 - 48));
}

TEST(TuneBlockSizesTest, StopsWhereEveryMoveSeemsFaster) {
  lower::Schedule schedule = Products({192, 8, 64});
  double time = 1000;
  KernelTuner tuner = TunerWith([&time](const Ints&) { return time *= 1.1; });
  TuneBlockSizes(schedule, tuner);
  EXPECT_EQ(SizesOf(schedule.steps[0]), (Ints{24, 8, 64}));
}

TEST(TuneBlockSizesTest, KeepsTheEstimateUnlessMoreThanNoiseIsSaved) {
  lower::Schedule schedule = Products({192, 8, 64});
  KernelTuner tuner = TunerWith([](const Ints& sizes) {
    return sizes == Ints{192, 8, 64} ? 100 : 98;
  });
  TuneBlockSizes(schedule, tuner);
  EXPECT_EQ(SizesOf(schedule.steps[0]), (Ints{192, 8, 64}));
  EXPECT_THAT(tuner.report().choices, IsEmpty());
}

/// Blocks of 2^24 rows and two panels need more than a gigabyte.
TEST(TuneBlockSizesTest, LeavesOutSizesThatTheKernelRefuses) {
  constexpr std::int64_t kManyRows = std::int64_t{1} << 25;
  lower::Schedule schedule = Products({std::int64_t{1} << 24, 1, 32});
  schedule.buffers[0] = Activation({kManyRows, kDepth});
  schedule.buffers[2] = Activation({kManyRows, kColumns});
  std::vector<Ints> measured;
  KernelTuner tuner = TunerWith([&measured](const Ints& sizes) {
    measured.push_back(sizes);
    return 1.0;
  });
  TuneBlockSizes(schedule, tuner);
  EXPECT_EQ(measured, (std::vector<Ints>{
                          {1 << 23, 1, 32}, {1 << 24, 1, 16}, {1 << 24, 1, 64}, {1 << 24, 1, 32}}));
}

TEST(TuneBlockSizesTest, LeavesOutSizesThatCutTheSame) {
  lower::Schedule schedule = Products({192, 32, 64});
  std::vector<Ints> measured;
  KernelTuner tuner = TunerWith([&measured](const Ints& sizes) {
    measured.push_back(sizes);
    return 1.0;
  });
  TuneBlockSizes(schedule, tuner);
  EXPECT_EQ(measured,
            (std::vector<Ints>{{96, 32, 64}, {192, 16, 64}, {192, 32, 32}, {192, 32, 64}}));
}

}  // namespace
}  // namespace poprt::tuner
