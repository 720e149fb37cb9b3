#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <future>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "model_runtime/serving/engine.hpp"
#include "model_runtime/serving/test_models.hpp"
#include "runtime/device/device_registry.hpp"
#include "runtime/device/faulty_device.hpp"

// Requests to programs with I/O tiles or several stages, whose batches overlap.
namespace model_runtime {
namespace {

using Floats = std::vector<float>;
using poprt::device::DeviceRegistry;
using poprt::device::PlanDeviceFaults;
using poprt::program::Program;
using poprt::program::Space;
using ::testing::AnyOf;

/// Batches of so many floats take long enough to overlap, sooner where every access is watched.
#if defined(__SANITIZE_THREAD__)
constexpr std::int64_t kLong = 1 << 14;
#else
constexpr std::int64_t kLong = 1 << 17;
#endif
constexpr std::int64_t kShort = 16;

/// <prefix>y = <prefix>x + the sum of x, of `length` floats. x, the sum and y share no bytes; those
/// of x are used again, and so are what y is made of.
poprt::program::Branch LongBranch(const std::string& name, const std::string& prefix,
                                  std::int64_t length) {
  const poprt::TensorType type{poprt::ElementType::kFloat32, {length}};
  const poprt::TensorType sum{poprt::ElementType::kFloat32, {1}};
  const std::uint64_t bytes = type.bytes();
  return {.name = name,
          .slots = {{type, Space::kArena, 0},
                    {sum, Space::kArena, bytes},
                    {type, Space::kArena, bytes + 64},
                    {type, Space::kArena, 0}},
          .inputs = {{prefix + "x", 0}},
          .outputs = {{prefix + "y", 3}},
          .steps = {{"sum",
                     "ReduceSum",
                     {0},
                     {1},
                     {{"axes", std::vector<std::int64_t>{0}}, {"keepdims", std::int64_t{1}}}},
                    {"add", "Add", {0, 1}, {2}, {}},
                    {"result", "Abs", {2}, {3}, {}}},
          .arena_bytes = 2 * bytes + 64};
}

Program Overlapping(std::vector<poprt::program::Branch> branches) {
  Program program = ProgramOf(std::move(branches));
  program.io_tiles = 64;
  program.batches_per_step = 8;
  return program;
}

Program OneLong() { return Overlapping({LongBranch("model", "", kLong)}); }

/// What lets the batches of a program overlap: the stages of its pipeline, and I/O tiles.
struct Overlap {
  std::uint32_t stages = 1;
  std::uint32_t io_tiles = 64;
};

/// The program with each step in the next stage, as far as there are stages.
Program With(const Overlap& overlap, Program program) {
  program.io_tiles = overlap.io_tiles;
  for (poprt::program::Branch& branch : program.branches) {
    for (std::uint32_t i = 0; i < branch.steps.size(); ++i) {
      branch.steps[i].stage = std::min(i, overlap.stages - 1);
    }
  }
  return program;
}

std::string NameOfOverlap(const ::testing::TestParamInfo<Overlap>& info) {
  return std::to_string(info.param.stages) + (info.param.stages == 1 ? "Stage" : "Stages") +
         (info.param.io_tiles > 0 ? "WithIoTiles" : "");
}

class OverlapTest : public ::testing::TestWithParam<Overlap> {};

INSTANTIATE_TEST_SUITE_P(Serving, OverlapTest,
                         ::testing::Values(Overlap{1, 64}, Overlap{2, 0}, Overlap{3, 0},
                                           Overlap{3, 64}),
                         NameOfOverlap);

std::unique_ptr<Engine> MakeEngine(const Program& program, const EngineConfig& config = {},
                                   const std::optional<std::string>& faults = std::nullopt) {
  PlanDeviceFaults(faults);
  auto engine = std::make_unique<Engine>(ModelOf(program), DeviceRegistry::Get().Acquire(), config);
  PlanDeviceFaults(std::nullopt);
  return engine;
}

/// "ok", or the class of the error.
std::string NameOf(const std::exception_ptr& error) {
  if (error == nullptr) return "ok";
  try {
    std::rethrow_exception(error);
  } catch (const application_runtime_error&) {
    return "application";
  } catch (const recoverable_runtime_error&) {
    return "recoverable";
  } catch (const std::exception& other) {
    return other.what();
  }
}

/// A request for some batches of a graph, in memory of its own.
struct TestRequest {
  TestRequest(const std::string& tensor_prefix, std::int64_t graph_length, std::size_t num_batches,
              float start)
      : prefix(tensor_prefix),
        length(static_cast<std::size_t>(graph_length)),
        x(length * num_batches),
        y(x.size(), -1),
        in(prefix + "x"),
        out(prefix + "y") {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = start + static_cast<float>(i % 3);
  }

  std::array<InputBuffer, 1> inputs() const {
    return {InputBuffer{in, x.data(), x.size() * sizeof(float)}};
  }
  std::array<OutputBuffer, 1> outputs() {
    return {OutputBuffer{out, y.data(), y.size() * sizeof(float)}};
  }
  std::string Execute(Engine& engine) {
    try {
      engine.Execute(inputs(), outputs());
    } catch (...) {
      return NameOf(std::current_exception());
    }
    return "ok";
  }
  void Submit(Engine& engine) {
    outcome = answer.get_future();
    engine.Submit(inputs(), outputs(),
                  [this](const std::exception_ptr& error) { answer.set_value(NameOf(error)); });
  }

  bool IsRight() const {
    for (std::size_t begin = 0; begin < x.size(); begin += length) {
      // Small whole numbers: exact in any order.
      const auto first = x.begin() + static_cast<std::ptrdiff_t>(begin);
      const float sum = std::accumulate(first, first + static_cast<std::ptrdiff_t>(length), 0.0F);
      for (std::size_t i = begin; i < begin + length; ++i) {
        if (y[i] != x[i] + sum) return false;
      }
    }
    return true;
  }

  std::string prefix;
  std::size_t length;
  Floats x;
  Floats y;
  std::string in;
  std::string out;
  std::promise<std::string> answer;
  std::future<std::string> outcome;
};

TEST_P(OverlapTest, ARequestNeedsNoOthersToComplete) {
  EngineConfig config;
  config.timeout_ns = std::chrono::nanoseconds(0);  // for ever
  const auto engine = MakeEngine(With(GetParam(), OneLong()), config);
  for (const std::size_t batches : {1, 1, 5}) {
    TestRequest queued("", kLong, batches, 1);
    queued.Submit(*engine);
    EXPECT_EQ(queued.outcome.get(), "ok");
    EXPECT_TRUE(queued.IsRight());
    TestRequest called("", kLong, batches, 2);
    EXPECT_EQ(called.Execute(*engine), "ok");
    EXPECT_TRUE(called.IsRight());
  }
}

/// One thread's traffic.
class Client {
 public:
  Client(Engine& engine, unsigned seed) : engine_(engine), random_(seed) {}

  void Send(int requests) {
    std::deque<std::unique_ptr<TestRequest>> in_flight;
    const auto take = [&] {
      Count(*in_flight[0], in_flight[0]->outcome.get());
      in_flight.pop_front();
    };
    for (int i = 0; i < requests; ++i) {
      auto request = MakeRequest();
      if (random_() % 3 == 0) {
        Count(*request, request->Execute(engine_));
        continue;
      }
      request->Submit(engine_);
      in_flight.push_back(std::move(request));
      while (in_flight.size() > random_() % 5) take();
    }
    while (!in_flight.empty()) take();
  }

  int right = 0;
  int failed = 0;
  int wrong = 0;

 private:
  std::unique_ptr<TestRequest> MakeRequest() {
    constexpr std::array<std::int64_t, 3> kLengths{kLong, kShort, kLong / 2};
    const std::size_t graph = random_() % 3;
    return std::make_unique<TestRequest>("graph" + std::to_string(graph) + "/", kLengths[graph],
                                         1 + random_() % 4, static_cast<float>(random_() % 4));
  }

  void Count(const TestRequest& request, const std::string& outcome) {
    if (outcome == "application" || outcome == "recoverable") {
      ++failed;
    } else if (outcome == "ok" && request.IsRight()) {
      ++right;
    } else {
      ++wrong;
    }
  }

  Engine& engine_;
  std::mt19937 random_;
};

TEST_P(OverlapTest, RandomTrafficGetsRightAnswersInSpiteOfFaults) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  EngineConfig config;
  config.auto_reset = true;
  const auto engine = MakeEngine(
      With(GetParam(),
           Overlapping({LongBranch("a", "graph0/", kLong), LongBranch("b", "graph1/", kShort),
                        LongBranch("c", "graph2/", kLong / 2)})),
      config, "40*:application_runtime_error");
  std::deque<Client> clients;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 4; ++i) {
    Client& client = clients.emplace_back(*engine, seed + i);
    threads.emplace_back([&client] { client.Send(60); });
  }
  for (std::thread& thread : threads) thread.join();
  int right = 0;
  int failed = 0;
  for (const Client& client : clients) {
    EXPECT_EQ(client.wrong, 0);
    right += client.right;
    failed += client.failed;
  }
  EXPECT_EQ(right + failed, 240);
  EXPECT_GT(failed, 0);
  EXPECT_LT(failed, 60);
}

TEST_P(OverlapTest, AnswersComeInTheOrderOfSubmission) {
  const auto engine = MakeEngine(With(GetParam(), OneLong()), {.ring_buffer_size_multiplier = 4});
  std::vector<std::size_t> order;
  std::mutex mutex;
  std::vector<std::unique_ptr<TestRequest>> requests;
  std::atomic<int> done{0};
  for (std::size_t i = 0; i < 30; ++i) {
    TestRequest& request =
        *requests.emplace_back(std::make_unique<TestRequest>("", kLong, 1 + i % 3, 1));
    engine->Submit(request.inputs(), request.outputs(), [&, i](const std::exception_ptr& error) {
      EXPECT_EQ(error, nullptr);
      const std::lock_guard lock(mutex);
      order.push_back(i);
      ++done;
    });
  }
  while (done < 30) std::this_thread::yield();
  const std::lock_guard lock(mutex);
  for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], i);
  for (const auto& request : requests) EXPECT_TRUE(request->IsRight());
}

/// What becomes of requests of these numbers of batches.
std::vector<std::string> Outcomes(const Program& program, const std::string& faults,
                                  bool auto_reset) {
  const auto engine = MakeEngine(program, {.auto_reset = auto_reset}, faults);
  std::vector<std::unique_ptr<TestRequest>> requests;
  for (const std::size_t batches : {4, 1, 1, 2, 3, 1, 1}) {
    TestRequest& request =
        *requests.emplace_back(std::make_unique<TestRequest>("", kLong, batches, 1));
    request.Submit(*engine);
  }
  std::vector<std::string> outcomes;
  for (const auto& request : requests) {
    outcomes.push_back(request->outcome.get());
    EXPECT_TRUE(outcomes.back() != "ok" || request->IsRight());
  }
  return outcomes;
}

TEST_P(OverlapTest, FaultsHitTheRequestsTheyWouldHitInSeries) {
  for (const bool auto_reset : {false, true}) {
    for (const std::string faults :
         {"3:application_runtime_error", "3:application_runtime_error,5:application_runtime_error",
          "1:recoverable_runtime_error/IPU_RESET,2:recoverable_runtime_error/IPU_RESET",
          "6:recoverable_runtime_error/FULL_RESET", "2*:application_runtime_error"}) {
      SCOPED_TRACE(faults + (auto_reset ? ", auto_reset" : ""));
      const auto expected = Outcomes(With({1, 0}, OneLong()), faults, auto_reset);
      EXPECT_EQ(Outcomes(With(GetParam(), OneLong()), faults, auto_reset), expected);
    }
  }
}

TEST_P(OverlapTest, DestructionAnswersEveryRequest) {
  for (int round = 0; round < 10; ++round) {
    std::vector<std::unique_ptr<TestRequest>> requests;
    {
      const auto engine =
          MakeEngine(With(GetParam(), OneLong()), {.ring_buffer_size_multiplier = 8});
      for (std::size_t i = 0; i < 12; ++i) {
        requests.push_back(std::make_unique<TestRequest>("", kLong, 1 + i % 3, 1));
        requests.back()->Submit(*engine);
      }
      requests[static_cast<std::size_t>(round)]->outcome.wait();
    }
    bool destroyed = false;
    for (const auto& request : requests) {
      const std::string outcome = request->outcome.get();
      EXPECT_THAT(outcome, AnyOf("ok", "the runner was destroyed before the request ran"));
      EXPECT_FALSE(destroyed && outcome == "ok") << "in the order of submission";
      EXPECT_TRUE(outcome != "ok" || request->IsRight());
      destroyed = outcome != "ok";
    }
  }
}

TEST_P(OverlapTest, DestructionLetsCallersGo) {
  for (int round = 0; round < 10; ++round) {
    auto engine = MakeEngine(With(GetParam(), OneLong()), {.flush_on_waiting_outputs = true});
    Engine& called = *engine;
    std::vector<std::unique_ptr<TestRequest>> requests;
    std::vector<std::future<std::string>> outcomes;
    for (int i = 0; i < 6; ++i) {
      TestRequest& request = *requests.emplace_back(std::make_unique<TestRequest>("", kLong, 1, 1));
      outcomes.push_back(
          std::async(std::launch::async, [&request, &called] { return request.Execute(called); }));
    }
    while (engine->Tracepoints().size() < requests.size()) std::this_thread::yield();
    engine.reset();
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      const std::string outcome = outcomes[i].get();
      EXPECT_THAT(outcome, AnyOf("ok", "the runner was destroyed before the request ran"));
      EXPECT_TRUE(outcome != "ok" || requests[i]->IsRight());
    }
  }
}

TEST_P(OverlapTest, VariablesChangeBetweenRequests) {
  const poprt::TensorType type{poprt::ElementType::kFloat32, {kLong}};
  const auto bytes = static_cast<std::uint64_t>(type.bytes());
  Program program =
      Overlapping({{.name = "model",
                    .slots = {{type, Space::kArena, 0},
                              {type, Space::kVariables, 0},
                              {type, Space::kArena, bytes}},
                    .inputs = {{"x", 0}},
                    .outputs = {{"y", 2}, {"w out", 1}},
                    .steps = {{"add", "Add", {0, 1}, {2}, {}}, {"result", "Abs", {2}, {2}, {}}},
                    .arena_bytes = 2 * bytes}});
  program.variables = {{"w", type, 0}};
  const auto engine = MakeEngine(With(GetParam(), program));
  std::atomic<int> loaded{1};   // the value of the variable
  std::atomic<int> loading{1};  // what it is going to be
  std::atomic<bool> stop{false};
  std::vector<std::thread> clients;
  clients.reserve(3);
  for (int c = 0; c < 3; ++c) {
    clients.emplace_back([&] {
      const Floats x(kLong, 0.5F);
      Floats y(kLong);
      Floats w(kLong);
      while (!stop) {
        const auto least = static_cast<float>(loaded);
        engine->Execute(
            std::array{InputBuffer{"x", x.data(), bytes}},
            std::array{OutputBuffer{"y", y.data(), bytes}, OutputBuffer{"w out", w.data(), bytes}});
        const auto most = static_cast<float>(loading);
        EXPECT_TRUE(w[0] >= least && w[0] <= most) << w[0] << " of " << least << " to " << most;
        EXPECT_EQ(y, Floats(kLong, w[0] + 0.5F));
        EXPECT_EQ(w, Floats(kLong, w[0]));
      }
    });
  }
  for (int value = 2; value < 12; ++value) {
    const Floats w(kLong, static_cast<float>(value));
    engine->SetVariable("w", {w.data(), bytes});
    loading = value;
    engine->LoadVariables();
    loaded = value;
  }
  stop = true;
  for (std::thread& client : clients) client.join();
}

TEST_P(OverlapTest, RowsOfManyRequestsMakeBatches) {
  constexpr std::int64_t kRows = 4;
  Program program = ProgramOf({SumBranch("model", "", {kRows, 3}, 1)});
  const auto engine = MakeEngine(With(GetParam(), program),
                                 {.batching_dim = 0, .timeout_ns = std::chrono::microseconds(200)});
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::vector<std::thread> clients;
  for (unsigned c = 0; c < 3; ++c) {
    clients.emplace_back([&engine, seed, c] {
      std::mt19937 random(seed + c);
      for (int i = 0; i < 200; ++i) {
        const std::size_t rows = 1 + random() % 9;
        Floats x(3 * rows);
        for (float& value : x) value = static_cast<float>(random() % 100);
        Floats y(x.size());
        engine->Execute(std::array{InputBuffer{"x", x.data(), x.size() * sizeof(float)}},
                        std::array{OutputBuffer{"y", y.data(), y.size() * sizeof(float)}});
        for (std::size_t k = 0; k < x.size(); ++k) {
          const std::size_t row = k / 3 * 3;
          EXPECT_EQ(y[k], x[k] + x[row] + x[row + 1] + x[row + 2]);
        }
      }
    });
  }
  for (std::thread& client : clients) client.join();
}

}  // namespace
}  // namespace model_runtime
