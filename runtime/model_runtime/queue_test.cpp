#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "model_runtime/ModelRunner.hpp"
#include "model_runtime/Session.hpp"
#include "model_runtime/session/queue_control.hpp"
#include "model_runtime/session_test_models.hpp"

// Queue-level use of sessions.
namespace model_runtime {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using ::testing::ElementsAre;
using testing::ErrorOf;
using testing::Vector;

/// A session on a simulated device, and its queues.
struct Queues {
  explicit Queues(std::shared_ptr<popef::Model> model, std::size_t num_buffers = 4,
                  TimeoutCallback timeout = {}, std::chrono::nanoseconds timeout_ns = {})
      : session(std::move(model)) {
    session.bindToDevice(DeviceManager().createSmallIpuModelDevice(1, 2));
    manager = session.createQueueManager(num_buffers, std::move(timeout), timeout_ns);
    session.runLoadPrograms();
  }

  InputQueue& in(const std::string& name) { return manager->inputQueue(name); }
  OutputQueue& out(const std::string& name) { return manager->outputQueue(name); }

  Session session;
  QueueManager* manager = nullptr;
};

/// Runs main programs until it goes.
class MainThread {
 public:
  explicit MainThread(Queues& queues)
      : queues_(queues), thread_([this] {
          while (!stop_) queues_.session.runMainPrograms();
        }) {}
  ~MainThread() {
    stop_ = true;
    queues_.manager->disconnectAll();
    thread_.join();
  }
  MainThread(const MainThread&) = delete;
  MainThread& operator=(const MainThread&) = delete;

 private:
  Queues& queues_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

/// A future for a callback.
std::pair<CompletionCallback, std::future<void>> Completion() {
  auto promise = std::make_shared<std::promise<void>>();
  auto future = promise->get_future();
  return {[promise = std::move(promise)] { promise->set_value(); }, std::move(future)};
}

TEST(QueueTest, RunsWhatIsQueuedOnTheCallingThread) {
  Queues queues(testing::SumModel());
  EXPECT_EQ(queues.in("a").tensorInfo(), popef::TensorInfo(popef::DataType::F32, {4}));
  EXPECT_EQ(queues.manager->inputQueues().size(), 2U);
  EXPECT_EQ(queues.manager->outputQueues().size(), 1U);
  const Vector a{1, 2, 3, 4};
  const Vector b{10, 20, 30, 40};
  Vector y{};
  std::vector<std::string> calls;
  queues.in("a").enqueue(a.data(), sizeof(a), [&] { calls.push_back("a"); });
  queues.in("b").enqueue(b.data(), sizeof(b), [&] { calls.push_back("b"); });
  std::vector<std::int64_t> shape;
  queues.out("y").enqueue(
      y.data(), sizeof(y), [&] { calls.push_back("y"); }, &shape);
  EXPECT_EQ(queues.in("a").readAvailable(), 1U);
  queues.session.runMainPrograms();
  EXPECT_EQ(y, (Vector{11, 22, 33, 44}));
  EXPECT_THAT(calls, ElementsAre("a", "b", "y"));
  EXPECT_THAT(shape, ElementsAre(4));
  EXPECT_EQ(queues.in("a").readAvailable(), 0U);
}

TEST(QueueTest, AMultipleOfTheTensorIsSeveralElements) {
  Queues queues(testing::SumModel());
  const std::array<float, 8> a{1, 2, 3, 4, 5, 6, 7, 8};
  const Vector b{10, 20, 30, 40};
  std::array<float, 8> y{};
  int read = 0;
  int written = 0;
  queues.in("a").enqueue(a.data(), sizeof(a), [&] { ++read; });
  queues.in("b").enqueue(b.data(), sizeof(b));
  queues.in("b").enqueue(b.data(), sizeof(b));
  queues.out("y").enqueue(y.data(), sizeof(y), [&] { ++written; });
  queues.session.runMainPrograms();
  EXPECT_EQ(read + written, 0);
  queues.session.runMainPrograms();
  EXPECT_EQ(read, 1);
  EXPECT_EQ(written, 1);
  EXPECT_EQ(y, (std::array<float, 8>{11, 22, 33, 44, 15, 26, 37, 48}));
}

TEST(QueueTest, PartsMakeUpATensor) {
  Queues queues(testing::SumModel(1, true));
  const Vector a{1, 2, 3, 4};
  const Vector b{10, 20, 30, 40};
  std::array<float, 2> first{};
  std::array<float, 2> second{};
  std::vector<std::int64_t> shape;
  queues.in("a").enqueue(a.data(), 8);
  queues.in("a").enqueue(a.data() + 2, 8);
  queues.in("b").enqueue(b.data(), sizeof(b));
  queues.out("y").enqueue(first.data(), 8, {}, &shape);
  queues.out("y").enqueue(second.data(), 8);
  queues.session.runMainPrograms();
  EXPECT_THAT(first, ElementsAre(11, 22));
  EXPECT_THAT(second, ElementsAre(33, 44));
  EXPECT_THAT(shape, ElementsAre(1, 2));
}

TEST(QueueTest, RefusesSizesThatDoNotFit) {
  Queues queues(testing::SumModel(1, true));
  const Vector a{};
  EXPECT_EQ(ErrorOf([&] { queues.in("a").enqueue(a.data(), 12); }),
            "queue of 'a': the memory has 12 bytes, allowed are 16 or a multiple, and for parts of "
            "a tensor multiples of 8");
  EXPECT_EQ(ErrorOf([&] { queues.in("a").enqueue(a.data(), 0); }),
            "queue of 'a': the memory has 0 bytes, allowed are 16 or a multiple, and for parts of "
            "a tensor multiples of 8");
  EXPECT_EQ(ErrorOf([&] { queues.out("y").enqueue(nullptr, 16); }),
            "queue of 'y': the memory is a null pointer");
  EXPECT_EQ(ErrorOf([&] { queues.in("y"); }),
            "there is no input queue 'y', input queues are: 'a' 'b'");
}

TEST(QueueTest, AStepTakesSeveralBatches) {
  Queues queues(testing::SumModel(3));
  const Vector a{1, 2, 3, 4};
  std::array<Vector, 3> y{};
  for (Vector& result : y) {
    queues.in("a").enqueue(a.data(), sizeof(a));
    queues.in("b").enqueue(a.data(), sizeof(a));
    queues.out("y").enqueue(result.data(), sizeof(result));
  }
  queues.session.runMainPrograms();
  EXPECT_THAT(y, ElementsAre(Vector{2, 4, 6, 8}, Vector{2, 4, 6, 8}, Vector{2, 4, 6, 8}));
}

TEST(QueueTest, AThreadServesManyRequestsInOrder) {
  constexpr int kRequests = 2000;
  Queues queues(testing::SumModel(), 3);
  std::vector<Vector> a(kRequests);
  std::vector<Vector> y(kRequests);
  std::vector<int> order;  // written by the main thread, read after it has ended
  std::promise<void> all;
  {
    const MainThread main(queues);
    for (int i = 0; i < kRequests; ++i) {
      const auto number = static_cast<std::size_t>(i);
      a[number].fill(static_cast<float>(i));
      queues.in("a").enqueue(a[number].data(), sizeof(Vector));
      queues.in("b").enqueue(a[number].data(), sizeof(Vector));
      queues.out("y").enqueue(y[number].data(), sizeof(Vector), [&, i] {
        order.push_back(i);
        if (i + 1 == kRequests) all.set_value();
      });
    }
    all.get_future().wait();
  }
  ASSERT_EQ(order.size(), static_cast<std::size_t>(kRequests));
  int wrong = 0;
  for (int i = 0; i < kRequests; ++i) {
    const auto number = static_cast<std::size_t>(i);
    if (order[number] != i || y[number][3] != 2.0F * static_cast<float>(i)) ++wrong;
  }
  EXPECT_EQ(wrong, 0);
}

TEST(QueueTest, OutputMemoryMayComeAfterTheInputsWereRead) {
  Queues queues(testing::SumModel());
  const MainThread main(queues);
  const Vector a{1, 2, 3, 4};
  Vector y{};
  auto [read, is_read] = Completion();
  auto [filled, is_filled] = Completion();
  queues.in("b").enqueue(a.data(), sizeof(a));
  queues.in("a").enqueue(a.data(), sizeof(a), std::move(read));
  is_read.get();
  queues.out("y").enqueue(y.data(), sizeof(y), std::move(filled));
  is_filled.get();
  EXPECT_EQ(y, (Vector{2, 4, 6, 8}));
}

TEST(QueueTest, FusedModelsReadTheirGraphOnly) {
  Queues queues(testing::FusedModel());
  const Vector x{1, 2, 3, 4};
  Vector twice{};
  Vector sum{};
  const std::uint32_t one = 1;
  const std::uint32_t zero = 0;
  queues.in("index").enqueue(&one, sizeof(one));
  queues.in("graph1/x").enqueue(x.data(), sizeof(x));
  queues.out("double/y").enqueue(twice.data(), sizeof(twice));
  queues.session.runMainPrograms();
  EXPECT_EQ(twice, (Vector{2, 4, 6, 8}));
  queues.in("index").enqueue(&zero, sizeof(zero));
  queues.in("sum/a").enqueue(x.data(), sizeof(x));
  queues.in("sum/b").enqueue(twice.data(), sizeof(twice));
  queues.out("graph0/y").enqueue(sum.data(), sizeof(sum));
  queues.session.runMainPrograms();
  EXPECT_EQ(sum, (Vector{3, 6, 9, 12}));
}

TEST(QueueTest, AFlushStandsForWhatIsMissing) {
  Queues queues(testing::SumModel(1, true));
  const Vector a{1, 2, 3, 4};
  std::array<float, 2> y{};
  queues.in("a").enqueue(a.data(), 8);
  queues.out("y").enqueue(y.data(), 8);
  queues.manager->flushAll();
  queues.manager->flushAll();  // nothing new to flush
  queues.session.runMainPrograms();
  EXPECT_THAT(y, ElementsAre(1, 2));

  // What is queued after a flush is for the next program.
  queues.manager->flushAll();
  Vector whole{};
  int filled = 0;
  queues.in("a").enqueue(a.data(), sizeof(a));
  queues.in("b").enqueue(a.data(), sizeof(a));
  queues.out("y").enqueue(whole.data(), sizeof(whole), [&] { ++filled; });
  queues.session.runMainPrograms();
  EXPECT_EQ(filled, 0);
  queues.session.runMainPrograms();
  EXPECT_EQ(filled, 1);
  EXPECT_EQ(whole, (Vector{2, 4, 6, 8}));
}

TEST(QueueTest, AFlushLeavesNothingBehindInOtherGraphs) {
  Queues queues(testing::FusedModel());
  const Vector x{1, 2, 3, 4};
  Vector y{};
  const std::uint32_t one = 1;
  queues.manager->flushAll();
  queues.session.runMainPrograms();  // graph 0, without data
  queues.in("index").enqueue(&one, sizeof(one));
  queues.in("double/x").enqueue(x.data(), sizeof(x));
  queues.out("double/y").enqueue(y.data(), sizeof(y));
  queues.session.runMainPrograms();
  EXPECT_EQ(y, (Vector{2, 4, 6, 8}));
}

TEST(QueueTest, FlushesOfQueuesThatAreNeverReadAreForgotten) {
  QueueControl control;
  FlushPlaces places;
  for (std::uint64_t flush = 1; flush <= 100; ++flush) {
    places.Add(control, flush, 0);
    EXPECT_EQ(places.size(), 1U);
    control.flush_of_program = flush;
    control.ProgramOver();
  }
}

TEST(QueueTest, MayOutliveTheSession) {
  auto queues = std::make_unique<Queues>(testing::SumModel());
  const auto in = queues->manager->inputQueues().front();
  const auto out = queues->manager->outputQueues().front();
  queues.reset();
  Vector a{};
  EXPECT_EQ(ErrorOf([&] { in->enqueue(a.data(), sizeof(a)); }),
            "queue of 'a': disconnected, nothing can be queued any more");
  EXPECT_EQ(ErrorOf([&] { out->enqueue(a.data(), sizeof(a)); }),
            "queue of 'y': disconnected, nothing can be queued any more");
}

TEST(QueueTest, TheTimeoutCallbackMayFlush) {
  QueueManager* manager = nullptr;
  std::mutex queue_mutex;
  std::vector<std::size_t> available;
  Queues queues(
      testing::SumModel(1, true), 4,
      [&](InputRingBuffer* buffer) {
        const std::lock_guard lock(queue_mutex);
        if (buffer->readAvailable() > 0) return;
        available.push_back(buffer->readAvailable());
        manager->flushAll();
      },
      1ms);
  manager = queues.manager;
  const Vector a{1, 2, 3, 4};
  std::array<float, 2> y{};
  const MainThread main(queues);
  for (int i = 0; i < 3; ++i) {
    auto [filled, is_filled] = Completion();
    {
      const std::lock_guard lock(queue_mutex);
      queues.in("a").enqueue(a.data(), 8);
      queues.in("b").enqueue(a.data() + 2, 8);
      queues.out("y").enqueue(y.data(), 8, std::move(filled));
    }
    is_filled.get();
    EXPECT_THAT(y, ElementsAre(4, 6));
  }
  const std::lock_guard lock(queue_mutex);
  EXPECT_GE(available.size(), 3U);
}

TEST(QueueTest, DisconnectingDropsWhatIsQueued) {
  Queues queues(testing::SumModel());
  const Vector a{};
  Vector y{};
  auto [read, is_read] = Completion();
  auto [filled, is_filled] = Completion();
  queues.in("a").enqueue(a.data(), sizeof(a), std::move(read));
  queues.out("y").enqueue(y.data(), sizeof(y), std::move(filled));
  queues.manager->disconnectAll();
  read = {};
  filled = {};
  EXPECT_THROW(is_read.get(), std::future_error);
  EXPECT_THROW(is_filled.get(), std::future_error);
  EXPECT_EQ(ErrorOf([&] { queues.in("a").enqueue(a.data(), sizeof(a)); }),
            "queue of 'a': disconnected, nothing can be queued any more");
  queues.session.runMainPrograms();
}

TEST(QueueTest, DisconnectingEndsThreadsThatWait) {
  Queues queues(testing::SumModel(), 1);
  const Vector a{};
  std::thread producer([&] {
    EXPECT_THROW(
        {
          while (true) queues.in("a").enqueue(a.data(), sizeof(a));
        },
        Error);
  });
  std::thread main([&] { queues.session.runMainPrograms(); });
  queues.manager->disconnectAll();
  producer.join();
  main.join();
}

TEST(QueueTest, StopEndsAProgramThatWaits) {
  Queues queues(testing::SumModel());
  const Vector a{1, 2, 3, 4};
  Vector y{};
  queues.in("a").enqueue(a.data(), sizeof(a));
  std::thread main([&] { queues.session.runMainPrograms(); });
  queues.session.stop();
  main.join();
  // What it had read of is still there.
  queues.session.runLoadPrograms();
  queues.in("b").enqueue(a.data(), sizeof(a));
  queues.out("y").enqueue(y.data(), sizeof(y));
  queues.session.runMainPrograms();
  EXPECT_EQ(y, (Vector{2, 4, 6, 8}));
}

TEST(QueueTest, CallbacksMayQueue) {
  Queues queues(testing::SumModel(), 1);
  const Vector a{1, 2, 3, 4};
  Vector y{};
  int left = 3;
  std::function<void()> again = [&] {
    if (left-- > 0) queues.in("a").enqueue(a.data(), sizeof(a), again);
  };
  again();
  for (int i = 0; i < 3; ++i) {
    queues.in("b").enqueue(a.data(), sizeof(a));
    queues.out("y").enqueue(y.data(), sizeof(y));
    queues.session.runMainPrograms();
  }
  EXPECT_EQ(left, -1);
}

TEST(QueueTest, TellsTheShapesOfOpenResults) {
  Queues queues(testing::PlacesModel());
  const Vector x{0, 5, 0, 6};
  std::array<std::int64_t, 4> y{-1, -1, -1, -1};
  std::vector<std::int64_t> shape;
  queues.in("x").enqueue(x.data(), sizeof(x));
  queues.out("y").enqueue(y.data(), sizeof(y), {}, &shape);
  queues.session.runMainPrograms();
  EXPECT_THAT(y, ElementsAre(1, 3, -1, -1));
  EXPECT_THAT(shape, ElementsAre(1, 2));
  EXPECT_EQ(ErrorOf([&] { queues.out("y").enqueue(y.data(), 8); }),
            "queue of 'y': the memory has 8 bytes, allowed are 32 or a multiple");
}

TEST(QueueTest, LoadProgramsMayReadFromQueues) {
  Session session(testing::VariableModel());
  session.bindToDevice(DeviceManager().createSmallIpuModelDevice(1, 2));
  QueueManager* const manager = session.createQueueManager(
      2, {}, {}, [](const popef::Anchor&) { return AnchorCallbackPolicy::BIND_USER_CB; });
  const Vector w{5, 6, 7, 8};
  const Vector x{1, 1, 1, 1};
  Vector y{};
  manager->inputQueue("w").enqueue(w.data(), sizeof(w));
  session.runLoadPrograms();
  manager->inputQueue("x").enqueue(x.data(), sizeof(x));
  manager->outputQueue("y").enqueue(y.data(), sizeof(y));
  session.runMainPrograms();
  EXPECT_EQ(y, (Vector{6, 7, 8, 9}));
}

}  // namespace
}  // namespace model_runtime
