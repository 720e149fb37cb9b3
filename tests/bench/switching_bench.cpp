// What switching between the graphs of a container costs: the same requests graph by graph (A, A,
// ..., B, B, ...) and in turn (A, B, A, B, ...), in alternating rounds.
//
//   switching_bench CONTAINER [REQUESTS]

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "model_runtime/ModelRunner.hpp"

namespace {

using model_runtime::DataDesc;
using Microseconds = std::vector<double>;

/// A request to one graph, in memory of its own.
struct Request {
  std::map<std::string, model_runtime::TensorMemory> memory;
  model_runtime::InputMemoryView inputs;
  model_runtime::OutputMemoryView outputs;
};

std::string GraphOf(const std::string& tensor) { return tensor.substr(0, tensor.find('/')); }

std::vector<Request> MakeRequests(const model_runtime::ModelRunner& runner) {
  std::map<std::string, Request> requests;
  const auto allocate = [&](const DataDesc& desc) {
    return requests[GraphOf(desc.name)]
        .memory.emplace(desc.name, desc.size_in_bytes)
        .first->second.getView();
  };
  for (const DataDesc& desc : runner.getExecuteInputs()) {
    if (desc.name == "index") continue;
    const model_runtime::TensorMemoryView view = allocate(desc);
    requests[GraphOf(desc.name)].inputs.emplace(desc.name, view);
  }
  for (const DataDesc& desc : runner.getExecuteOutputs()) {
    const model_runtime::TensorMemoryView view = allocate(desc);
    requests[GraphOf(desc.name)].outputs.emplace(desc.name, view);
  }
  std::vector<Request> result;
  for (auto& [graph, request] : requests) result.push_back(std::move(request));
  return result;
}

void Run(model_runtime::ModelRunner& runner, const Request& request, Microseconds& times) {
  const auto start = std::chrono::steady_clock::now();
  runner.execute(request.inputs, request.outputs);
  const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
  times.push_back(time.count());
}

double Percentile(const Microseconds& sorted, double part) {
  return sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1))];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: switching_bench CONTAINER [REQUESTS]\n");
    return EXIT_FAILURE;
  }
  model_runtime::ModelRunnerConfig config;
  config.validate_io_params = false;
  model_runtime::ModelRunner runner(std::string(argv[1]), config);
  const std::vector<Request> requests = MakeRequests(runner);
  const std::size_t total = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 10'000;
  constexpr std::size_t kRounds = 20;
  const std::size_t per_graph = std::max<std::size_t>(1, total / kRounds / requests.size());

  Microseconds one_by_one;
  Microseconds in_turn;
  for (std::size_t round = 0; round <= kRounds; ++round) {
    if (round == 1) {  // the first was to warm up
      one_by_one.clear();
      in_turn.clear();
    }
    for (const Request& request : requests) {
      for (std::size_t i = 0; i < per_graph; ++i) Run(runner, request, one_by_one);
    }
    for (std::size_t i = 0; i < per_graph; ++i) {
      for (const Request& request : requests) Run(runner, request, in_turn);
    }
  }
  std::sort(one_by_one.begin(), one_by_one.end());
  std::sort(in_turn.begin(), in_turn.end());
  std::printf("%zu graphs, %zu requests each way\n", requests.size(), in_turn.size());
  std::printf("%-12s %12s %12s %8s\n", "us", "A,A,...", "A,B,...", "ratio");
  for (const auto& [name, part] : {std::pair{"median", 0.5}, std::pair{"p99", 0.99}}) {
    const double before = Percentile(one_by_one, part);
    const double after = Percentile(in_turn, part);
    std::printf("%-12s %12.2f %12.2f %8.3f\n", name, before, after, after / before);
  }
}
