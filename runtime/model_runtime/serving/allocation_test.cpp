#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <new>

#include "model_runtime/ModelRunner.hpp"
#include "model_runtime/serving/test_models.hpp"

namespace {

std::atomic<std::uint64_t> allocations{0};
std::atomic<std::uint64_t> failing{0};  ///< the number of the one that fails, counted as above

void* Allocate(std::size_t bytes) {
  if (++allocations == failing) throw std::bad_alloc();
  void* memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) { return Allocate(bytes); }
void* operator new[](std::size_t bytes) { return Allocate(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace model_runtime {
namespace {

std::uint64_t AllocationsOf(const std::function<void()>& action) {
  action();  // scratch memory grows once
  const std::uint64_t before = allocations;
  for (int i = 0; i < 10; ++i) action();
  return allocations - before;
}

TEST(AllocationTest, ExecuteAllocatesNothing) {
  ModelRunner runner(
      ModelOf(ProgramOf({SumBranch("a", "a/", {2}, 0), SumBranch("b", "b/", {2}, 0)})));
  const std::array<float, 4> x{1, 2, 3, 4};
  std::array<float, 4> y{};
  for (const std::string graph : {"a", "graph1"}) {
    for (const std::uint64_t bytes : {8, 16}) {
      const InputMemoryView in{{graph + "/x", {x.data(), bytes}}};
      const OutputMemoryView out{{graph + "/y", {y.data(), bytes}}};
      EXPECT_EQ(AllocationsOf([&] { runner.execute(in, out); }), 0U) << graph << " " << bytes;
    }
  }
  EXPECT_EQ(y, (std::array<float, 4>{4, 5, 10, 11}));
}

TEST(AllocationTest, ExecuteOfWholeBatchesAllocatesNothing) {
  ModelRunnerConfig config;
  config.batching_dim = 0;
  ModelRunner runner(ModelOf(ProgramOf({SumBranch("model", "", {2}, 0)})), config);
  const std::array<float, 4> x{1, 2, 3, 4};
  std::array<float, 4> y{};
  const InputMemoryView in{{"x", {x.data(), 16}}};
  const OutputMemoryView out{{"y", {y.data(), 16}}};
  EXPECT_EQ(AllocationsOf([&] { runner.execute(in, out); }), 0U);
  EXPECT_EQ(y, (std::array<float, 4>{4, 5, 10, 11}));
}

TEST(AllocationTest, ExecuteOfBatchesThatOverlapAllocatesNothing) {
  constexpr std::int64_t kLength = 1 << 17;  // long enough for that
  const poprt::TensorType type{poprt::ElementType::kFloat32, {kLength}};
  const auto bytes = static_cast<std::uint64_t>(type.bytes());
  using poprt::program::Space;
  auto program =
      ProgramOf({{.name = "model",
                  .slots = {{type, Space::kArena, 0}, {type, Space::kArena, bytes}},
                  .inputs = {{"x", 0}},
                  .outputs = {{"y", 0}},
                  .steps = {{"abs", "Abs", {0}, {1}, {}}, {"negate", "Neg", {1}, {0}, {}}},
                  .arena_bytes = 2 * bytes}});
  program.io_tiles = 32;
  for (const std::uint32_t last_stage : {0U, 1U}) {
    program.branches[0].steps[1].stage = last_stage;
    ModelRunner runner(ModelOf(program));
    const std::vector<float> x(kLength, -3);
    std::vector<float> y(kLength);
    const InputMemoryView in{{"x", {x.data(), bytes}}};
    const OutputMemoryView out{{"y", {y.data(), bytes}}};
    EXPECT_EQ(AllocationsOf([&] { runner.execute(in, out); }), 0U);
    EXPECT_EQ(y, x);
  }
}

struct Outcomes {
  int good = 0;
  int bad = 0;
};

/// Ends every request, wherever in this process the `n`-th allocation from its submission fails.
/// False if there were fewer.
bool SurvivesFailureOf(std::uint64_t n, const ModelRunnerConfig& config, Outcomes& outcomes) {
  ModelRunner runner(ModelOf(ProgramOf({SumBranch("model", "", {2}, 0)})), config);
  // The second has rows that wait when there is a batching dimension.
  const std::array<float, 3> x{1, 2, 3};
  const std::uint64_t rows = config.batching_dim == ModelRunnerConfig().batching_dim ? 2 : 3;
  const InputMemoryView in{{"x", {x.data(), rows * sizeof(float)}}};
  std::array<OutputFutureMemory, 2> futures;
  failing = allocations + n;
  for (OutputFutureMemory& future : futures) {
    try {
      future = runner.executeAsync(in);
      future.at("y").wait();
    } catch (const std::bad_alloc&) {
      ++outcomes.bad;
    }
  }
  const bool reached = allocations >= failing;
  failing = 0;
  for (OutputFutureMemory& future : futures) {
    if (future.empty()) continue;
    try {
      const float* y = static_cast<const float*>(future.at("y").get().data.get());
      EXPECT_EQ(y[0], 4.0F);
      EXPECT_EQ(y[1], 5.0F);
      ++outcomes.good;
    } catch (const std::exception&) {
      ++outcomes.bad;
    }
  }
  return reached;
}

TEST(AllocationTest, EveryRequestEndsWhenMemoryIsShort) {
  for (const bool batching : {false, true}) {
    ModelRunnerConfig config;
    config.flush_on_waiting_outputs = true;
    config.timeout_ns = std::chrono::microseconds(100);
    if (batching) config.batching_dim = 0;
    std::uint64_t n = 1;
    Outcomes outcomes;
    while (SurvivesFailureOf(n, config, outcomes)) ++n;
    EXPECT_EQ(outcomes.good + outcomes.bad, static_cast<int>(2 * n));
    EXPECT_GT(outcomes.good, 0);
    EXPECT_GT(outcomes.bad, 0);
  }
}

}  // namespace
}  // namespace model_runtime
