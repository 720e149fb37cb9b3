#include "poprt/runtime/pack_runner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <random>
#include <thread>

#include "runtime/poprt_runtime/test_containers.hpp"

namespace poprt::runtime {
namespace {

using Floats = std::vector<float>;

ConstTensorMemoryView View(const Floats& values) {
  return {values.data(), values.size() * sizeof(float)};
}
TensorMemoryView View(Floats& values) { return {values.data(), values.size() * sizeof(float)}; }

/// Longer than any test: such packs are sent because they are complete.
constexpr int kNever = 1'000'000'000;

/// y = the sum of x [2, 6] over its row, for every token: shows what shares a row.
std::shared_ptr<Executable> RowSums() {
  return std::make_shared<Executable>(test::RowSumModel(2, 6));
}

struct Request {
  explicit Request(Floats values) : x(std::move(values)), y(x.size(), -1) {}
  InputMemoryView inputs() const { return {{"x", View(x)}}; }
  OutputMemoryView outputs() { return {{"y", View(y)}}; }

  Floats x;
  Floats y;
};

std::vector<OutputFutureMemoryView> Submit(PackRunner& runner, std::vector<Request>& requests) {
  std::vector<OutputFutureMemoryView> futures;
  futures.reserve(requests.size());
  for (Request& request : requests) {
    futures.push_back(runner.executeAsync(request.inputs(), request.outputs()));
  }
  return futures;
}

std::string ErrorOf(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(PackRunnerTest, SendsAPackWithTheMostEntries) {
  PackRunner runner(RowSums(), PackRunnerConfig(kNever, 3));
  std::vector<Request> requests{Request({1, 2}), Request({4}), Request({8, 16})};
  std::vector<OutputFutureMemoryView> futures = Submit(runner, requests);
  for (auto& future : futures) future.at("y").get();
  EXPECT_EQ(requests[0].y, (Floats{31, 31}));
  EXPECT_EQ(requests[1].y, (Floats{31}));
  EXPECT_EQ(requests[2].y, (Floats{31, 31}));
  EXPECT_EQ(futures[1].at("y").get().data, requests[1].y.data());
  EXPECT_EQ(futures[1].at("y").get().dataSizeBytes, sizeof(float));
}

TEST(PackRunnerTest, SendsAPackWhenTheNextEntryDoesNotFit) {
  PackRunnerConfig config(kNever);
  config.disableDataAcrossRows = true;
  PackRunner runner(RowSums(), config);
  std::vector<Request> requests{Request({1, 1, 1, 1}), Request({2, 2, 2, 2}),
                                Request({4, 4, 4, 4, 4, 4}), Request({8, 8, 8, 8, 8, 8})};
  std::vector<OutputFutureMemoryView> futures = Submit(runner, requests);
  for (auto& future : futures) future.at("y").get();  // the second pack has not one token free
  EXPECT_EQ(requests[0].y, Floats(4, 4));
  EXPECT_EQ(requests[1].y, Floats(4, 8));
  EXPECT_EQ(requests[2].y, Floats(6, 24));
  EXPECT_EQ(requests[3].y, Floats(6, 48));
}

TEST(PackRunnerTest, SendsAPackAtTheTimeout) {
  PackRunner runner(RowSums(), PackRunnerConfig(2000));
  Request request({3, 4});
  runner.execute(request.inputs(), request.outputs());
  EXPECT_EQ(request.y, Floats(2, 7));
}

TEST(PackRunnerTest, EntriesCrossRowsEndToEnd) {
  PackRunner runner(RowSums(), PackRunnerConfig(kNever, 3));
  std::vector<Request> requests{Request({1, 1, 1, 1}), Request({2, 2, 2, 2}), Request({4})};
  std::vector<OutputFutureMemoryView> futures = Submit(runner, requests);
  for (auto& future : futures) future.at("y").get();
  EXPECT_EQ(requests[0].y, Floats(4, 8));
  EXPECT_EQ(requests[1].y, (Floats{8, 8, 8, 8}));
  EXPECT_EQ(requests[2].y, (Floats{8}));
}

TEST(PackRunnerTest, FirstFitAnswersInTheOrderOfRequests) {
  PackRunnerConfig config(kNever, 3);
  config.disableDataAcrossRows = true;
  config.algo = PackAlgorithm::FirstFit;
  PackRunner runner(RowSums(), config);
  std::vector<Request> requests{Request({1, 1, 1, 1}), Request({2, 2, 2}), Request({4, 4})};
  std::vector<OutputFutureMemoryView> futures = Submit(runner, requests);
  for (auto& future : futures) future.at("y").get();
  EXPECT_EQ(requests[0].y, Floats(4, 12));
  EXPECT_EQ(requests[1].y, Floats(3, 6));
  EXPECT_EQ(requests[2].y, Floats(2, 12));
}

TEST(PackRunnerTest, WrongRequestsFailAlone) {
  PackRunner runner(RowSums(), PackRunnerConfig(kNever, 2));
  Request first({1}), longer({1, 2, 3, 4, 5, 6, 7}), second({2});
  auto answer = runner.executeAsync(first.inputs(), first.outputs());
  const std::string problem = "the request has 7 tokens, a row of the model has 6";
  EXPECT_EQ(ErrorOf([&] { runner.execute(longer.inputs(), longer.outputs()); }), problem);
  auto refused = runner.executeAsync(longer.inputs(), longer.outputs());
  EXPECT_EQ(ErrorOf([&] { refused.at("y").get(); }), problem);
  EXPECT_EQ(ErrorOf([&] { runner.executeAsync(first.inputs(), {}); }),
            "the request has no outputs, output names are: y");
  runner.execute(second.inputs(), second.outputs());
  answer.at("y").get();
  EXPECT_EQ(first.y, Floats{3});
  EXPECT_EQ(second.y, Floats{3});
}

TEST(PackRunnerTest, EntriesThatWaitGetAnErrorWhenTheRunnerGoes) {
  Request request({1});
  OutputFutureMemoryView futures;
  {
    PackRunner runner(RowSums(), PackRunnerConfig(kNever));
    futures = runner.executeAsync(request.inputs(), request.outputs());
  }
  EXPECT_EQ(ErrorOf([&] { futures.at("y").get(); }),
            "the runner was destroyed before the request ran");
}

TEST(PackRunnerTest, ManyRequestsOfOneThreadWaitForTheirPlace) {
  PackRunner runner(RowSums(), PackRunnerConfig(kNever, 2));
  std::vector<Request> requests(200, Request({1, 2}));
  std::vector<OutputFutureMemoryView> futures = Submit(runner, requests);
  for (auto& future : futures) future.at("y").get();
  for (const Request& request : requests) EXPECT_EQ(request.y, Floats(2, 6));
}

TEST(PackRunnerTest, DescribesTheModelAndTheResultsOfARequest) {
  const PackRunner runner(RowSums(), PackRunnerConfig(1000));
  EXPECT_EQ(runner.getExecuteInputs()[0].shape, (std::vector<std::int64_t>{2, 6}));
  EXPECT_EQ(runner.getModelOutputs()[0].name, "y");
  const Request request({1, 2, 3});
  EXPECT_EQ(runner.outputsFor(request.inputs())[0].shape, (std::vector<std::int64_t>{3}));
  EXPECT_EQ(runner.outputsFor(request.inputs())[0].sizeInBytes, 12);
}

TEST(PackRunnerTest, RefusesConfigurationsThatCannotWork) {
  EXPECT_THAT(ErrorOf([] { PackRunner(RowSums(), PackRunnerConfig(0)); }),
              testing::StartsWith("timeoutInMicroSeconds is 0, allowed is more than 0"));
  EXPECT_EQ(ErrorOf([] { PackRunner(std::shared_ptr<Executable>(), PackRunnerConfig(1)); }),
            "a PackRunner needs an executable");
}

/// Every entry of one value must come back with the sum of a row in which its tokens are.
TEST(PackRunnerTest, ServesManyThreads) {
  PackRunnerConfig config(300, 5);
  config.disableDataAcrossRows = true;
  config.algo = PackAlgorithm::FirstFit;
  config.delimiterNum = 1;
  PackRunner runner(std::make_shared<Executable>(test::CopyModel(2, 6)), config);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  threads.reserve(7);
  for (unsigned t = 0; t < 7; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (int i = 0; i < 200; ++i) {
        Request request(Floats(1 + random() % 6, static_cast<float>(1000 * t + i)));
        if (i % 2 == 0) {
          runner.execute(request.inputs(), request.outputs());
        } else {
          runner.executeAsync(request.inputs(), request.outputs()).at("y").get();
        }
        if (request.y != request.x) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace poprt::runtime
