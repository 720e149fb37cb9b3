#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "model_runtime/Errors.hpp"
#include "model_runtime/ModelRunner.hpp"
#include "model_runtime/serving/test_models.hpp"

namespace model_runtime {
namespace {

using Floats = std::vector<float>;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr std::size_t kBatch = 4;

ModelRunnerConfig Along(std::uint32_t dim, nanoseconds timeout) {
  ModelRunnerConfig config;
  config.batching_dim = dim;
  config.timeout_ns = timeout;
  return config;
}

/// x[4] -> y[4], batches along dimension 0; rows wait for ever unless said otherwise.
ModelRunner Runner(nanoseconds timeout = nanoseconds(0)) {
  return ModelRunner(ModelOf(ProgramOf({SumBranch("model", "", {kBatch}, 0)})), Along(0, timeout));
}

InputMemoryView In(const Floats& x, const std::string& name = "x") {
  return {{name, {x.data(), x.size() * sizeof(float)}}};
}
OutputMemoryView Out(Floats& y, const std::string& name = "y") {
  return {{name, {y.data(), y.size() * sizeof(float)}}};
}

Floats Execute(ModelRunner& runner, const Floats& x) {
  Floats y(x.size());
  runner.execute(In(x), Out(y));
  return y;
}

std::string ErrorOf(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(BatchingTest, RunsAnySizeAndFillsWithZeros) {
  ModelRunner runner = Runner(milliseconds(1));
  EXPECT_EQ(Execute(runner, {1}), (Floats{2}));
  EXPECT_EQ(Execute(runner, {1, 2, 3, 4}), (Floats{11, 12, 13, 14}));
  EXPECT_EQ(Execute(runner, {1, 2, 3, 4, 5, 6, 7}), (Floats{11, 12, 13, 14, 23, 24, 25}));
}

TEST(BatchingTest, WholeBatchesDoNotWait) {
  ModelRunner runner = Runner();
  EXPECT_EQ(Execute(runner, {1, 1, 1, 1, 2, 2, 2, 2}), (Floats{5, 5, 5, 5, 10, 10, 10, 10}));
  const Floats one{1};
  Floats result{0};
  const auto future = runner.executeAsync(In(one), Out(result)).at("y");
  EXPECT_EQ(Execute(runner, {1, 2, 3, 4}), (Floats{11, 12, 13, 14})) << "while a row waits";
  EXPECT_EQ(Execute(runner, {5, 6, 7}), (Floats{24, 25, 26}));
  future.get();
  EXPECT_EQ(result, (Floats{20}));
}

TEST(BatchingTest, LaterRowsCompleteABatchAndTheRestWaits) {
  ModelRunner runner = Runner();
  const std::vector<Floats> x{{1, 2}, {1, 1, 1, 1, 3}, {4, 5}, {6, 7, 8}};
  std::vector<Floats> y;
  std::vector<std::shared_future<TensorMemoryView>> futures;
  y.reserve(x.size());
  for (const Floats& values : x) y.emplace_back(values.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    futures.push_back(runner.executeAsync(In(x[i]), Out(y[i])).at("y"));
  }
  for (auto& future : futures) future.get();
  EXPECT_EQ(y[0], (Floats{11, 12}));
  EXPECT_EQ(y[1], (Floats{5, 5, 5, 5, 13}));
  EXPECT_EQ(y[2], (Floats{14, 31}));  // 1 + 2 + 3 + 4, then 5 + 6 + 7 + 8
  EXPECT_EQ(y[3], (Floats{32, 33, 34}));
}

TEST(BatchingTest, ExecutesOfSeveralThreadsShareABatch) {
  ModelRunner runner = Runner();
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kBatch; ++t) {
    threads.emplace_back([&, t] {
      const auto value = static_cast<float>(t + 1);
      EXPECT_EQ(Execute(runner, {value}), (Floats{value + 10}));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(BatchingTest, AnyDimension) {
  for (std::uint32_t dim = 0; dim < 3; ++dim) {
    SCOPED_TRACE(dim);
    poprt::Shape shape{2, 3, 5};
    const poprt::Shape batch = shape;
    ModelRunner runner(ModelOf(ProgramOf({SumBranch("model", "", batch, dim)})),
                       Along(dim, milliseconds(1)));
    // 4/3 to 2 + 4/5 batches: whole ones and a rest.
    shape[dim] = 2 * shape[dim] - 1;
    const auto rows = static_cast<std::size_t>(shape[dim]);
    const auto outer = static_cast<std::size_t>(dim == 0 ? 1 : dim == 1 ? 2 : 6);
    const auto inner = static_cast<std::size_t>(dim == 0 ? 15 : dim == 1 ? 5 : 1);
    Floats x(outer * rows * inner);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i + 1);
    Floats expected = x;
    const auto batch_rows = static_cast<std::size_t>(batch[dim]);
    for (std::size_t o = 0; o < outer; ++o) {
      for (std::size_t r = 0; r < rows; ++r) {
        const std::size_t first = r / batch_rows * batch_rows;
        for (std::size_t i = 0; i < inner; ++i) {
          for (std::size_t other = first; other < std::min(first + batch_rows, rows); ++other) {
            expected[(o * rows + r) * inner + i] += x[(o * rows + other) * inner + i];
          }
        }
      }
    }
    Floats y(x.size());
    OutputShapes shapes;
    runner.execute(In(x), Out(y), shapes);
    EXPECT_EQ(y, expected);
    EXPECT_EQ(shapes.at("y"), shape);
    EXPECT_EQ(runner.execute(In(x)).at("y").data_size_bytes, x.size() * sizeof(float));
  }
}

TEST(BatchingTest, GraphsOfAFusedModelHaveBatchesOfTheirOwn) {
  ModelRunner runner(
      ModelOf(ProgramOf({SumBranch("a", "a/", {4}, 0), SumBranch("b", "b/", {2, 3}, 0)})),
      Along(0, nanoseconds(0)));
  const Floats a1{1};
  const Floats a2{2, 3, 4};
  const Floats b1{1, 2, 3};
  const Floats b2{4, 5, 6};
  Floats ya1(1);
  Floats ya2(3);
  Floats yb1(3);
  Floats yb2(3);
  std::vector<std::shared_future<TensorMemoryView>> futures{
      runner.executeAsync(In(a1, "a/x"), Out(ya1, "a/y")).at("a/y"),
      runner.executeAsync(In(b1, "b/x"), Out(yb1, "b/y")).at("b/y"),
      runner.executeAsync(In(a2, "graph0/x"), Out(ya2, "graph0/y")).at("graph0/y"),
      runner.executeAsync(In(b2, "b/x"), Out(yb2, "b/y")).at("b/y")};
  for (auto& future : futures) future.get();
  EXPECT_EQ(ya1, (Floats{11}));
  EXPECT_EQ(ya2, (Floats{12, 13, 14}));
  EXPECT_EQ(yb1, (Floats{6, 9, 12}));
  EXPECT_EQ(yb2, (Floats{9, 12, 15}));
}

TEST(BatchingTest, FillsFromFlushByName) {
  ModelRunnerConfig config = Along(0, milliseconds(1));
  const Floats filler{100, 200, 300, 400};
  Floats flushed(4);
  config.flush_by_name = {In(filler), Out(flushed)};
  ModelRunner runner(ModelOf(ProgramOf({SumBranch("model", "", {kBatch}, 0)})), config);
  EXPECT_EQ(Execute(runner, {1, 2}), (Floats{704, 705}));
  EXPECT_EQ(Execute(runner, {1, 1, 1, 1}), (Floats{5, 5, 5, 5}));
  EXPECT_EQ(flushed, (Floats{0, 0, 1003, 1103}));
}

TEST(BatchingTest, WaitsForTheLongerOfTwoTimeouts) {
  ModelRunnerConfig config = Along(0, nanoseconds(1));
  config.is_batch_size_timeout_enabled = true;
  ModelRunner runner(ModelOf(ProgramOf({SumBranch("model", "", {kBatch}, 0)})), config);
  const Floats one{1};
  Floats result{0};
  const auto future = runner.executeAsync(In(one), Out(result)).at("y");
  EXPECT_EQ(Execute(runner, {2, 3, 4}), (Floats{12, 13, 14}));
  future.get();
  EXPECT_EQ(result, (Floats{11}));
}

TEST(BatchingTest, FrozenInputsServeEveryBatch) {
  using poprt::program::Space;
  const poprt::TensorType rows{poprt::ElementType::kFloat32, {2, 2}};
  const poprt::TensorType vector{poprt::ElementType::kFloat32, {2}};
  const poprt::program::Branch branch{
      .name = "model",
      .slots = {{rows, Space::kArena, 0}, {vector, Space::kArena, 64}, {rows, Space::kArena, 128}},
      .inputs = {{"x", 0}, {"bias", 1}},
      .outputs = {{"y", 2}},
      .steps = {{"add", "Add", {0, 1}, {2}, {}}},
      .arena_bytes = 192};
  const auto model = ModelOf(ProgramOf({branch}));
  const Floats bias{10, 20};
  ModelRunnerConfig config = Along(0, milliseconds(1));
  config.frozen_inputs = In(bias, "bias");
  ModelRunner batched(model, config);
  EXPECT_EQ(Execute(batched, {1, 2, 3, 4, 5, 6}), (Floats{11, 22, 13, 24, 15, 26}));
  config.batching_dim = ModelRunnerConfig().batching_dim;
  ModelRunner multiples(model, config);
  EXPECT_EQ(Execute(multiples, {1, 2, 3, 4, 5, 6, 7, 8}), (Floats{11, 22, 13, 24, 15, 26, 17, 28}));
}

TEST(BatchingTest, DestructionFailsRowsThatWait) {
  std::shared_future<TensorMemoryView> future;
  Floats y(1);
  const Floats x{1};
  {
    ModelRunner runner = Runner();
    future = runner.executeAsync(In(x), Out(y)).at("y");
  }
  EXPECT_EQ(ErrorOf([&] { future.get(); }), "the runner was destroyed before the request ran");
}

TEST(BatchingTest, RefusesRequestsAndModelsThatDoNotFit) {
  ModelRunner runner = Runner();
  EXPECT_EQ(ErrorOf([&] {
              const Floats x{1};
              Floats y(2);
              runner.execute(In(x), Out(y));
            }),
            "output 'y' has 2 rows, but the request's first tensor has 1");
  ModelRunner wide(ModelOf(ProgramOf({SumBranch("model", "", {2, 3}, 1)})),
                   Along(1, milliseconds(1)));
  EXPECT_EQ(ErrorOf([&] {
              Execute(wide, {1, 2, 3});
            }),
            "input 'x' has 12 bytes, allowed are 8 (a row of float32[2, 3] along dimension 1) or a "
            "multiple\n"
            "output 'y' has 12 bytes, allowed are 8 (a row of float32[2, 3] along dimension 1) or "
            "a multiple");
  EXPECT_EQ(
      ErrorOf([] {
        ModelRunner(ModelOf(ProgramOf({SumBranch("model", "", {2, 3}, 1)})), Along(2, {}));
      }),
      "batching_dim is 2, but 'x' of type float32[2, 3] has dimensions 0 to 1: freeze it if it is "
      "an input that is the same for all requests\n"
      "batching_dim is 2, but 'y' of type float32[2, 3] has dimensions 0 to 1: freeze it if it is "
      "an input that is the same for all requests");
}

TEST(BatchingTest, RefusesTensorsWithDifferentRows) {
  using poprt::program::Space;
  const poprt::program::Branch branch{
      .name = "model",
      .slots = {{{poprt::ElementType::kFloat32, {2, 3}}, Space::kArena, 0},
                {{poprt::ElementType::kFloat32, {3, 2}}, Space::kArena, 64}},
      .inputs = {{"x", 0}},
      .outputs = {{"y", 1}},
      .steps = {{"transpose", "Transpose", {0}, {1}, {{"perm", std::vector<std::int64_t>{1, 0}}}}},
      .arena_bytes = 128};
  EXPECT_EQ(
      ErrorOf([&] { ModelRunner(ModelOf(ProgramOf({branch})), Along(0, {})); }),
      "batching_dim is 0, but 'y' of type float32[3, 2] has 3 rows along it, allowed are 2 as "
      "in the graph's other tensors");
}

TEST(BatchingTest, ManyThreadsGetTheirOwnRows) {
  // y = x + x: what else is in the batch does not matter.
  using poprt::program::Space;
  const poprt::TensorType type{poprt::ElementType::kFloat32, {3, kBatch}};
  const poprt::program::Branch branch{
      .name = "model",
      .slots = {{type, Space::kArena, 0}, {type, Space::kArena, 64}},
      .inputs = {{"x", 0}},
      .outputs = {{"y", 1}},
      .steps = {{"add", "Add", {0, 0}, {1}, {}}},
      .arena_bytes = 128};
  ModelRunner runner(ModelOf(ProgramOf({branch})), Along(1, std::chrono::microseconds(50)));
  const auto client = [&](unsigned seed) {
    std::mt19937 random(seed);
    for (int i = 0; i < 200; ++i) {
      SCOPED_TRACE(seed);
      Floats x(3 * (1 + random() % 10));
      Floats expected;
      for (float& value : x) value = static_cast<float>(random() % 1000);
      for (const float value : x) expected.push_back(2 * value);
      Floats y(x.size());
      if (random() % 2 == 0) {
        runner.execute(In(x), Out(y));
      } else {
        runner.executeAsync(In(x), Out(y)).at("y").get();
      }
      ASSERT_EQ(y, expected);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) threads.emplace_back(client, t);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace model_runtime
