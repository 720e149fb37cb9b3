// Clients that share one runner: every request gets exactly one answer, right or the error of an
// injected fault, in the order of its thread's submissions, and memory does not grow. The runners
// are of programs whose batches come one after the other, overlap with I/O, and go through the
// stages of a pipeline.
//
//   runtime_stress_test [--requests N] [--seed N]

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "model_runtime/Errors.hpp"
#include "model_runtime/ModelRunner.hpp"
#include "runtime/device/faulty_device.hpp"
#include "tests/stress/adding_graphs.hpp"

namespace {

using model_runtime::ModelRunner;

constexpr std::size_t kGraphs = 6;
constexpr int kClients = 8;
constexpr std::size_t kMostInFlight = 12;  ///< of one client
constexpr std::size_t kMostBatches = 4;

using testing::Addend;
using testing::Name;
using testing::Overlap;

constexpr Overlap kOverlaps[] = {
    {}, {.io_tiles = 64}, {.stages = 4}, {.stages = 2, .io_tiles = 64}};

std::size_t Length(std::size_t graph) { return 3 + 7 * graph; }

/// What all clients count.
struct Tally {
  std::atomic<std::uint64_t> right{0};
  std::atomic<std::uint64_t> faults{0};
  std::atomic<std::uint64_t> wrong{0};

  std::uint64_t answers() const { return right + faults + wrong; }
};

/// A request in memory of its own.
struct Request {
  std::size_t graph = 0;
  std::vector<float> x;
  std::vector<float> y;
  std::optional<std::shared_future<model_runtime::TensorMemoryView>> future;
  std::optional<std::shared_future<model_runtime::TensorMemory>> own_future;

  model_runtime::InputMemoryView Inputs() const {
    return {{Name(graph, "x"), {x.data(), x.size() * sizeof(float)}}};
  }
  model_runtime::OutputMemoryView Outputs() {
    return {{Name(graph, "y"), {y.data(), y.size() * sizeof(float)}}};
  }
  bool IsReady() const {
    using std::chrono::seconds;
    const auto ready = std::future_status::ready;
    return future ? future->wait_for(seconds(0)) == ready
                  : own_future->wait_for(seconds(0)) == ready;
  }
};

bool IsRight(const Request& request, const float* y, std::uint32_t stages) {
  const float sum = static_cast<float>(stages) * Addend(request.graph);
  for (std::size_t i = 0; i < request.x.size(); ++i) {
    if (y[i] != request.x[i] + sum) return false;
  }
  return true;
}

/// One thread's requests.
class Client {
 public:
  Client(ModelRunner& runner, std::uint32_t stages, Tally& tally, unsigned seed)
      : runner_(runner), stages_(stages), tally_(tally), random_(seed) {}

  void Send(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      auto request = MakeRequest();
      switch (random_() % 4) {
        case 0:
          RunNow(*request);
          break;
        case 1:
          request->own_future =
              runner_.executeAsync(request->Inputs()).at(Name(request->graph, "y"));
          Keep(std::move(request));
          break;
        default:
          request->future = runner_.executeAsync(request->Inputs(), request->Outputs())
                                .at(Name(request->graph, "y"));
          Keep(std::move(request));
      }
    }
    while (!in_flight_.empty()) Take();
  }

 private:
  std::unique_ptr<Request> MakeRequest() {
    auto request = std::make_unique<Request>();
    request->graph = random_() % kGraphs;
    const std::size_t size = Length(request->graph) * (1 + random_() % kMostBatches);
    request->y.assign(size, -1);
    for (std::size_t i = 0; i < size; ++i) {
      request->x.push_back(static_cast<float>(random_() % 4096));
    }
    return request;
  }

  void RunNow(Request& request) {
    Count([&] {
      runner_.execute(request.Inputs(), request.Outputs());
      return IsRight(request, request.y.data(), stages_);
    });
  }

  void Keep(std::unique_ptr<Request> request) {
    in_flight_.push_back(std::move(request));
    while (in_flight_.size() > random_() % (kMostInFlight + 1)) Take();
  }

  /// Ends one of the requests in flight: the oldest, or a younger one, before which all older ones
  /// must be done.
  void Take() {
    const std::size_t at = random_() % in_flight_.size();
    Request& request = *in_flight_[at];
    Count([&] {
      if (request.future) {
        request.future->get();
        return IsRight(request, request.y.data(), stages_);
      }
      const model_runtime::TensorMemory memory = request.own_future->get();
      return memory.data_size_bytes == request.x.size() * sizeof(float) &&
             IsRight(request, static_cast<const float*>(memory.data.get()), stages_);
    });
    for (std::size_t i = 0; i < at; ++i) {
      if (!in_flight_[i]->IsReady()) {
        std::fprintf(stderr, "a request was done before an older one\n");
        ++tally_.wrong;
      }
    }
    in_flight_.erase(in_flight_.begin() + static_cast<std::ptrdiff_t>(at));
  }

  template <typename F>
  void Count(const F& run) {
    try {
      ++(run() ? tally_.right : tally_.wrong);
    } catch (const model_runtime::application_runtime_error&) {
      ++tally_.faults;
    } catch (const model_runtime::recoverable_runtime_error&) {
      ++tally_.faults;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "unexpected error: %s\n", error.what());
      ++tally_.wrong;
    }
  }

  ModelRunner& runner_;
  const std::uint32_t stages_;
  Tally& tally_;
  std::mt19937 random_;
  std::deque<std::unique_ptr<Request>> in_flight_;
};

model_runtime::ModelRunnerConfig Config() {
  model_runtime::ModelRunnerConfig config;
  config.thread_safe = true;
  config.auto_reset = true;
  config.device_wait_config = model_runtime::DeviceWaitConfig{std::chrono::seconds(60)};
  return config;
}

/// Sends `requests`, which kClients divides.
void RunClients(ModelRunner& runner, std::uint32_t stages, Tally& tally, std::uint64_t requests,
                unsigned seed) {
  std::vector<std::thread> threads;
  for (unsigned client = 0; client < kClients; ++client) {
    threads.emplace_back([&, client] {
      Client(runner, stages, tally, seed * kClients + client).Send(requests / kClients);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

/// Runners that end while requests are queued: each request is answered.
void EndRunners(const std::shared_ptr<popef::Model>& model, std::uint32_t stages, Tally& tally,
                int count) {
  for (int i = 0; i < count; ++i) {
    std::vector<float> x(Length(0), 1);
    std::vector<std::vector<float>> results(20, std::vector<float>(x.size()));
    std::vector<std::shared_future<model_runtime::TensorMemoryView>> futures;
    {
      ModelRunner runner(model, Config());
      for (auto& y : results) {
        futures.push_back(runner
                              .executeAsync({{Name(0, "x"), {x.data(), x.size() * sizeof(float)}}},
                                            {{Name(0, "y"), {y.data(), y.size() * sizeof(float)}}})
                              .at(Name(0, "y")));
        if (futures.size() == static_cast<std::size_t>(i) % 21) break;
      }
    }
    for (std::size_t request = 0; request < futures.size(); ++request) {
      try {
        futures[request].get();
        const float expected = 1 + static_cast<float>(stages) * Addend(0);
        ++(results[request][0] == expected ? tally.right : tally.wrong);
      } catch (const model_runtime::Error&) {
        ++tally.faults;  // the runner has ended before
      }
    }
  }
}

/// Bytes of resident memory.
std::int64_t Resident() {
  std::ifstream file("/proc/self/statm");
  std::int64_t total = 0;
  std::int64_t resident = 0;
  file >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

constexpr bool kSanitized =
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    true;
#else
    false;
#endif

/// Devices made from now on fault now and then in their first 2 * `requests` runs.
void PlanFaults(std::uint64_t requests) {
  std::string faults;
  const std::uint64_t step = 1 + requests / 8;
  for (std::uint64_t run = step; run < 2 * requests; run += step) {
    faults +=
        (faults.empty() ? "" : ",") + std::to_string(run) +
        (run % 2 == 0 ? ":application_runtime_error" : ":recoverable_runtime_error/IPU_RESET");
  }
  poprt::device::PlanDeviceFaults(faults);
}

/// Returns whether a program with this overlap stands the requests.
bool Stands(const Overlap& overlap, std::uint64_t requests, unsigned seed) {
  std::vector<std::int64_t> lengths;
  for (std::size_t graph = 0; graph < kGraphs; ++graph) {
    lengths.push_back(static_cast<std::int64_t>(Length(graph)));
  }
  const std::shared_ptr<popef::Model> model = testing::AddingGraphs(lengths, overlap);
  const std::uint64_t warm_up = requests / 10 / kClients * kClients;
  const std::uint64_t measured = (requests - warm_up) / kClients * kClients;
  Tally tally;
  std::int64_t grown = 0;
  PlanFaults(requests);
  {
    ModelRunner runner(model, Config());
    RunClients(runner, overlap.stages, tally, warm_up, seed);
    const std::int64_t before = Resident();
    RunClients(runner, overlap.stages, tally, measured, seed + 1);
    grown = Resident() - before;
  }
  const bool all_answered = tally.answers() == warm_up + measured;
  const bool had_faults = tally.faults > 0;
  poprt::device::PlanDeviceFaults(std::nullopt);
  EndRunners(model, overlap.stages, tally, 50);

  constexpr std::int64_t kMostGrowth = 8 << 20;
  const bool has_grown = !kSanitized && grown > kMostGrowth;
  std::printf(
      "%u stages, %u I/O tiles: right %llu, failed by injected faults or ended runners %llu, "
      "wrong %llu, memory grew by %lld KiB\n",
      overlap.stages, overlap.io_tiles, static_cast<unsigned long long>(tally.right),
      static_cast<unsigned long long>(tally.faults), static_cast<unsigned long long>(tally.wrong),
      static_cast<long long>(grown / 1024));
  if (!all_answered) std::printf("some requests had no answer\n");
  if (!had_faults) std::printf("no injected fault was seen\n");
  if (has_grown) std::printf("allowed are %lld KiB\n", static_cast<long long>(kMostGrowth / 1024));
  return tally.wrong == 0 && all_answered && had_faults && !has_grown;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t requests = 100'000;
  unsigned seed = std::random_device()();
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    if (option == "--requests") requests = std::strtoull(argv[i + 1], nullptr, 10);
    if (option == "--seed") seed = static_cast<unsigned>(std::strtoul(argv[i + 1], nullptr, 10));
  }
  std::printf("%llu requests, seed %u\n", static_cast<unsigned long long>(requests), seed);
  bool good = true;
  for (const Overlap& overlap : kOverlaps) {
    good = Stands(overlap, requests / std::size(kOverlaps), seed) && good;
  }
  return good ? 0 : 1;
}
