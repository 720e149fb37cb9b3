// What requests cost beside the kernels they run. `kernel` is the bare kernel of the same model;
// run with --benchmark_repetitions=9 --benchmark_report_aggregates_only=true.

#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "model_runtime/ModelRunner.hpp"
#include "model_runtime/RingBuffer.hpp"
#include "runtime/kernels/kernel.hpp"
#include "tests/stress/adding_graphs.hpp"

namespace {

using model_runtime::ModelRunner;

constexpr std::int64_t kLength = 16;
constexpr std::size_t kGraphs = 8;

/// A request to graph g in memory of its own.
struct Request {
  explicit Request(std::size_t graph) {
    inputs = {{testing::Name(graph, "x"), {x.data(), sizeof(x)}}};
    outputs = {{testing::Name(graph, "y"), {y.data(), sizeof(y)}}};
  }

  std::array<float, kLength> x{};
  std::array<float, kLength> y{};
  model_runtime::InputMemoryView inputs;
  model_runtime::OutputMemoryView outputs;
};

ModelRunner MakeRunner() {
  return ModelRunner(testing::AddingGraphs(std::vector<std::int64_t>(kGraphs, kLength)));
}

void Kernel(benchmark::State& state) {
  const poprt::TensorType type{poprt::ElementType::kFloat32, {kLength}};
  const poprt::kernels::BoundKernel kernel = poprt::kernels::FindKernel("Add")->bind(
      {.inputs = {type, {type.element, {1}}}, .outputs = {type}, .attributes = {}});
  poprt::Tensor x(type);
  poprt::Tensor y(type);
  const poprt::Tensor addend({type.element, {1}});
  const std::array<const std::byte*, 2> inputs{x.data(), addend.data()};
  const std::array<std::byte*, 1> outputs{y.mutable_data()};
  poprt::kernels::ThreadPool pool(1);
  for (auto _ : state) kernel.run({.inputs = inputs, .outputs = outputs, .pool = &pool});
}
BENCHMARK(Kernel);

void Execute(benchmark::State& state) {
  ModelRunner runner = MakeRunner();
  Request request(0);
  for (auto _ : state) runner.execute(request.inputs, request.outputs);
}
BENCHMARK(Execute);

/// All graphs in turn; time per request.
void ExecuteAlternating(benchmark::State& state) {
  ModelRunner runner = MakeRunner();
  std::deque<Request> requests;
  for (std::size_t graph = 0; graph < kGraphs; ++graph) requests.emplace_back(graph);
  std::size_t next = 0;
  for (auto _ : state) {
    runner.execute(requests[next].inputs, requests[next].outputs);
    next = (next + 1) % kGraphs;
  }
}
BENCHMARK(ExecuteAlternating);

void RingBufferPushPop(benchmark::State& state) {
  model_runtime::InputRingBuffer ring(8);
  model_runtime::InputElement element;
  for (auto _ : state) {
    ring.push({&state, 1});
    ring.pop(element);
    benchmark::DoNotOptimize(element.data);
  }
}
BENCHMARK(RingBufferPushPop);

void RoundTrip(benchmark::State& state) {
  ModelRunner runner = MakeRunner();
  Request request(0);
  for (auto _ : state) {
    for (const auto& [name, future] : runner.executeAsync(request.inputs, request.outputs)) {
      future.get();
    }
  }
}
BENCHMARK(RoundTrip)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
