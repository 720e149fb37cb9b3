#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <new>

#include "model_runtime/ModelRunner.hpp"
#include "model_runtime/serving/test_models.hpp"

namespace {

std::atomic<std::uint64_t> allocations{0};

void* Allocate(std::size_t bytes) {
  ++allocations;
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

}  // namespace
}  // namespace model_runtime
