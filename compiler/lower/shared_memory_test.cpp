#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "compiler/host/arena.hpp"
#include "compiler/host/lifetimes.hpp"
#include "compiler/host/order_steps.hpp"
#include "compiler/lower/in_place.hpp"
#include "compiler/lower/schedule_for_test.hpp"
#include "compiler/lower/views.hpp"
#include "runtime/kernels/kernel.hpp"
#include "runtime/program/program.hpp"

/// Views, order, computing in place and the arena together: random schedules give the bits that
/// they give when every buffer has memory of its own.
namespace poprt::lower {
namespace {

class RandomSchedule {
 public:
  explicit RandomSchedule(unsigned seed) : random_(seed) {}

  Schedule Make() {
    for (int i = 0; i < 2; ++i) {
      const BufferId input = Add(Draw(1, 6));
      schedule_.inputs.push_back({"x" + std::to_string(i), input});
    }
    const int steps = Draw(5, 60);
    for (int i = 0; i < steps; ++i) AddStep();
    for (int i = 0; i < 2; ++i) schedule_.outputs.push_back({"y" + std::to_string(i), Any()});
    schedule_.outputs.push_back({"last", static_cast<BufferId>(schedule_.buffers.size() - 1)});
    for (Step& step : schedule_.steps) step.in_place_inputs = Bind(step).in_place_inputs;
    return std::move(schedule_);
  }

 private:
  int Draw(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

  /// [1, rows, 16], or now and then of rows that are no multiple of the alignment.
  BufferId Add(std::int64_t rows) { return Add({1, rows, 16}); }
  BufferId Add(const Shape& shape) {
    schedule_.buffers.push_back(Activation(shape));
    return static_cast<BufferId>(schedule_.buffers.size() - 1);
  }

  /// A late one rather than an early one.
  BufferId Any() {
    const int count = static_cast<int>(schedule_.buffers.size());
    return static_cast<BufferId>(Draw(0, 3) == 0 ? Draw(0, count - 1)
                                                 : Draw(std::max(0, count - 6), count - 1));
  }

  std::int64_t Rows(BufferId id) const { return schedule_.buffers[id].type.shape[1]; }

  void AddStep() {
    const BufferId a = Any();
    switch (Draw(0, 5)) {
      case 0: {
        const BufferId b = Any();
        const BufferId same = Rows(a) == Rows(b) ? b : a;
        schedule_.steps.push_back(Call("Add", {a, same}, {Add(Rows(a))}));
        break;
      }
      case 1:
        schedule_.steps.push_back(Call("Neg", {a}, {Add(Rows(a))}));
        break;
      case 2:
      case 3: {
        std::vector<BufferId> parts{a};
        std::int64_t rows = Rows(a);
        for (int i = Draw(1, 3); i > 0; --i) {
          parts.push_back(Any());
          rows += Rows(parts.back());
        }
        if (rows > 64) break;
        schedule_.steps.push_back(Call("Concat", parts, {Add(rows)}, {{"axis", std::int64_t{1}}}));
        break;
      }
      case 4: {
        if (Rows(a) < 2) break;
        const std::int64_t first = Draw(1, static_cast<int>(Rows(a)) - 1);
        const BufferId head = Add(first);
        const BufferId tail = Add(Rows(a) - first);
        schedule_.steps.push_back(Call("Split", {a}, {head, tail}, {{"axis", std::int64_t{1}}}));
        break;
      }
      default: {
        const std::int64_t start = Draw(0, static_cast<int>(Rows(a)) - 1);
        const std::int64_t rows = Draw(1, static_cast<int>(Rows(a) - start));
        schedule_.steps.push_back(
            Call("Slice", {a}, {Add(rows)},
                 {{"starts", Ints{start}}, {"ends", Ints{start + rows}}, {"axes", Ints{1}}}));
      }
    }
  }

  kernels::BoundKernel Bind(const Step& step) const {
    kernels::KernelCall call{.inputs = {}, .outputs = {}, .attributes = step.attributes};
    for (const BufferId id : step.inputs) call.inputs.push_back(schedule_.buffers[id].type);
    for (const BufferId id : step.outputs) call.outputs.push_back(schedule_.buffers[id].type);
    return kernels::FindKernel(step.kernel)->bind(call);
  }

  std::mt19937 random_;
  Schedule schedule_{.name = "random"};
};

/// Runs a schedule with buffers at these offsets. The bytes of the outputs.
std::vector<std::vector<float>> RunAt(const Schedule& schedule,
                                      const std::vector<std::uint64_t>& offsets,
                                      std::uint64_t bytes) {
  Tensor arena({ElementType::kUint8, {static_cast<std::int64_t>(bytes)}});
  std::memset(arena.mutable_data(), 0x5A, arena.bytes());
  const auto address = [&](BufferId id) { return arena.mutable_data() + offsets[id]; };
  float next = 1;
  for (const Stream& input : schedule.inputs) {
    for (std::int64_t i = 0; i < ElementCount(schedule.buffers[input.buffer].type.shape); ++i) {
      reinterpret_cast<float*>(address(input.buffer))[i] = next++;
    }
  }
  kernels::ThreadPool pool(1);
  for (const Step& step : schedule.steps) {
    kernels::KernelCall call{.inputs = {}, .outputs = {}, .attributes = step.attributes};
    std::vector<const std::byte*> inputs;
    std::vector<std::byte*> outputs;
    for (const BufferId id : step.inputs) {
      call.inputs.push_back(schedule.buffers[id].type);
      inputs.push_back(address(id));
    }
    for (const BufferId id : step.outputs) {
      call.outputs.push_back(schedule.buffers[id].type);
      outputs.push_back(address(id));
    }
    kernels::FindKernel(step.kernel)
        ->bind(call)
        .run({.inputs = inputs, .outputs = outputs, .scratch = nullptr, .pool = &pool});
  }
  std::vector<std::vector<float>> results;
  for (const Stream& output : schedule.outputs) {
    const auto* from = reinterpret_cast<const float*>(address(output.buffer));
    results.emplace_back(from, from + ElementCount(schedule.buffers[output.buffer].type.shape));
  }
  return results;
}

TEST(SharedMemoryTest, RandomSchedulesGiveTheSameBits) {
  std::size_t fewer_steps = 0;
  std::size_t less_memory = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    const Schedule given = RandomSchedule(seed).Make();
    std::vector<std::uint64_t> apart;
    std::uint64_t end = 0;
    for (const Buffer& buffer : given.buffers) {
      apart.push_back(end);
      end += host::ArenaBytesOf(buffer);
    }
    const auto wanted = RunAt(given, apart, end);

    Schedule shared = given;
    MakeViews(shared);
    for (const Buffer& buffer : shared.buffers) {
      if (!buffer.view_of) continue;
      const Buffer& storage = shared.buffers[*buffer.view_of];
      ASSERT_FALSE(storage.view_of.has_value());
      ASSERT_EQ(buffer.view_offset % program::kSlotAlignment, 0U);
      ASSERT_LE(buffer.view_offset + buffer.type.bytes(), storage.type.bytes());
    }
    const std::uint64_t before = host::LargestLiveSet(shared);
    host::OrderSteps(shared);
    EXPECT_LE(host::LargestLiveSet(shared), before);
    ComputeInPlace(shared);
    const host::ArenaPlan plan = host::PlanArena(shared);
    EXPECT_GE(plan.bytes, host::LargestLiveSet(shared));
    EXPECT_EQ(RunAt(shared, plan.offsets, plan.bytes), wanted);
    fewer_steps += shared.steps.size() < given.steps.size() ? 1 : 0;
    less_memory += plan.bytes < host::PlanArena(given).bytes ? 1 : 0;

    // The same again: nothing depends on addresses or on chance.
    Schedule again = given;
    MakeViews(again);
    host::OrderSteps(again);
    ComputeInPlace(again);
    EXPECT_EQ(host::PlanArena(again).offsets, plan.offsets);
  }
  EXPECT_GT(fewer_steps, 300U);
  EXPECT_GT(less_memory, 150U);
}

}  // namespace
}  // namespace poprt::lower
