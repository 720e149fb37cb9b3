// What overlap brings: requests per second of clients that run at the same time against clients
// that take turns, in alternating rounds; beside them those of the same model without overlap,
// whose inputs are read where the clients have them.
//
//   overlap_bench [--clients N] [--async] [--seconds S] [SERIAL OVERLAPPED]
//
// SERIAL and OVERLAPPED are containers of one model, the second compiled with num_io_tiles or for
// several stages. Without them the models are made here: sums of large tensors.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "model_runtime/ModelRunner.hpp"
#include "tests/bench/large_inputs.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using model_runtime::DataDesc;
using model_runtime::ModelRunner;

constexpr int kRounds = 9;
/// Requests of a client use as many memories in turn: data that has just come from elsewhere is in
/// no cache.
constexpr int kMemories = 8;

struct Options {
  int clients = 3;
  bool async = false;
  double seconds = 1;  ///< of a round
  std::vector<std::string> files;
};

/// A request to the first graph, in memory of its own.
struct Request {
  explicit Request(const ModelRunner& runner) {
    const auto allocate = [&](const DataDesc& desc) {
      return memory.emplace_back(desc.size_in_bytes).getView();
    };
    for (const DataDesc& desc : runner.getExecuteInputs()) {
      inputs.emplace(desc.name, allocate(desc));
    }
    for (const DataDesc& desc : runner.getExecuteOutputs()) {
      outputs.emplace(desc.name, allocate(desc));
    }
  }

  void Run(ModelRunner& runner, bool async) const {
    if (!async) {
      runner.execute(inputs, outputs);
      return;
    }
    for (const auto& [name, future] : runner.executeAsync(inputs, outputs)) future.get();
  }

  std::vector<model_runtime::TensorMemory> memory;
  model_runtime::InputMemoryView inputs;
  model_runtime::OutputMemoryView outputs;
};

/// Requests per second of clients that each send one after the other, or take turns.
double Throughput(ModelRunner& runner, const Options& options, bool in_turn = false) {
  std::mutex turn;
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> done{0};
  std::vector<std::vector<Request>> memories(static_cast<std::size_t>(options.clients));
  for (std::vector<Request>& requests : memories) {
    for (int i = 0; i < kMemories; ++i) requests.emplace_back(runner).Run(runner, options.async);
  }
  std::vector<std::thread> clients;
  clients.reserve(memories.size());
  const auto start = Clock::now();
  for (const std::vector<Request>& requests : memories) {
    clients.emplace_back([&] {
      for (std::size_t i = 0; !stop; i = (i + 1) % requests.size()) {
        std::unique_lock lock(turn, std::defer_lock);
        if (in_turn) lock.lock();
        requests[i].Run(runner, options.async);
        ++done;
      }
    });
  }
  std::this_thread::sleep_for(std::chrono::duration<double>(options.seconds));
  stop = true;
  for (std::thread& client : clients) client.join();
  return static_cast<double>(done) / std::chrono::duration<double>(Clock::now() - start).count();
}

double Median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

void Compare(const std::string& what, ModelRunner& serial, ModelRunner& overlapped,
             const Options& options) {
  std::vector<double> in_place;
  std::vector<double> in_turn;
  std::vector<double> at_once;
  std::vector<double> ratios;
  for (int round = 0; round < kRounds; ++round) {
    in_place.push_back(Throughput(serial, options));
    in_turn.push_back(Throughput(overlapped, options, true));
    at_once.push_back(Throughput(overlapped, options));
    ratios.push_back(at_once.back() / in_turn.back());
  }
  std::printf(
      "%-24s  without overlap %8.1f  in turn %8.1f  overlapped %8.1f requests/s, ratio of the "
      "last two %.2f (%.2f to %.2f)\n",
      what.c_str(), Median(in_place), Median(in_turn), Median(at_once), Median(ratios),
      *std::ranges::min_element(ratios), *std::ranges::max_element(ratios));
}

Options Parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--async") {
      options.async = true;
    } else if (argument == "--clients" && i + 1 < argc) {
      options.clients = std::atoi(argv[++i]);
    } else if (argument == "--seconds" && i + 1 < argc) {
      options.seconds = std::atof(argv[++i]);
    } else {
      options.files.push_back(argument);
    }
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = Parse(argc, argv);
  if (options.files.size() == 2) {
    ModelRunner serial(options.files[0]);
    ModelRunner overlapped(options.files[1]);
    Compare(options.files[1], serial, overlapped, options);
    return 0;
  }
  if (!options.files.empty() || options.clients < 1) {
    std::fprintf(stderr,
                 "usage: overlap_bench [--clients N] [--async] [--seconds S] "
                 "[SERIAL OVERLAPPED]\n");
    return 2;
  }
  for (const testing::LargeInputs& model : testing::kModelsWithLargeInputs) {
    ModelRunner serial(testing::Compile(model, 0));
    ModelRunner overlapped(testing::Compile(model, 64));
    Compare(testing::Describe(model), serial, overlapped, options);
  }
}
