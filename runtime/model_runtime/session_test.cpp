#include "model_runtime/Session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <future>
#include <thread>
#include <utility>

#include "model_runtime/session_test_models.hpp"
#include "runtime/device/faulty_device.hpp"

namespace model_runtime {
namespace {

using ::testing::ElementsAre;
using testing::ErrorOf;
using testing::Vector;

std::shared_ptr<Device> AnyDevice() { return DeviceManager().createSmallIpuModelDevice(1, 2); }

std::vector<std::string> Names(const std::vector<popef::Anchor>& anchors) {
  std::vector<std::string> names;
  names.reserve(anchors.size());
  for (const popef::Anchor& anchor : anchors) names.push_back(anchor.name());
  return names;
}

ConstTensorMemoryView In(const Vector& x) { return {x.data(), sizeof(x)}; }
TensorMemoryView Out(Vector& y) { return {y.data(), sizeof(y)}; }

/// A handler that gives this to every input.
UserInputHandler Give(Vector values) {
  return [values](const popef::Anchor&, const TensorMemoryView& memory) {
    ASSERT_EQ(memory.data_size_bytes, sizeof(values));
    std::memcpy(memory.data, values.data(), sizeof(values));
  };
}

TEST(SessionTest, HandlersGiveAndTake) {
  Session session(testing::SumModel());
  session.bindToDevice(AnyDevice());
  session.setUserInputHandler(Give({1, 2, 3, 4}));
  Vector y{};
  std::string output;
  session.setUserOutputHandler(
      [&](const popef::Anchor& anchor, const ConstTensorMemoryView& memory) {
        output = anchor.name();
        std::memcpy(y.data(), memory.data, memory.data_size_bytes);
      });
  session.verify();
  session.runLoadPrograms();
  session.runMainPrograms();
  EXPECT_EQ(output, "y");
  EXPECT_EQ(y, (Vector{2, 4, 6, 8}));
  session.setUserInputHandler("b", Give({10, 20, 30, 40}));
  session.runMainPrograms();
  EXPECT_EQ(y, (Vector{11, 22, 33, 44}));
}

TEST(SessionTest, LaunchesAtOnceOrWhenNeeded) {
  SessionConfig config;
  config.policy = LaunchPolicy::Immediate;
  Session immediate(testing::SumModel(), config);
  ASSERT_NE(immediate.device(), nullptr);
  EXPECT_GE(immediate.device()->id(), 0);
  Session deferred(testing::SumModel());
  EXPECT_EQ(deferred.device(), nullptr);
  deferred.runLoadPrograms();
  ASSERT_NE(deferred.device(), nullptr);
  EXPECT_NE(deferred.device()->id(), immediate.device()->id());
}

TEST(SessionTest, ConnectsTensorDataAndLetsUsersOverrideIt) {
  Session session(testing::VariableModel());
  session.bindToDevice(AnyDevice());
  EXPECT_THAT(Names(session.getUserInputAnchors()), ElementsAre("x"));
  EXPECT_THAT(Names(session.getUserOutputAnchors()), ElementsAre("y"));
  const Vector x{10, 10, 10, 10};
  Vector y{};
  session.setUserInputMemory("x", In(x));
  session.setUserOutputMemory("y", Out(y));
  session.verify();
  session.runLoadPrograms();
  session.runMainPrograms();
  EXPECT_EQ(y, (Vector{11, 12, 13, 14}));
  session.setUserInputHandler("w", Give({5, 6, 7, 8}));
  session.runLoadPrograms();
  session.runMainPrograms();
  EXPECT_EQ(y, (Vector{15, 16, 17, 18}));
  Vector w{};
  session.setUserOutputMemory("w", Out(w));
  session.runSavePrograms();
  EXPECT_EQ(w, (Vector{5, 6, 7, 8}));
}

TEST(SessionTest, PredicatesDecide) {
  SessionConfig config;
  config.input_predicate = [](const popef::Anchor& anchor) {
    return anchor.name() == "w" ? AnchorCallbackPolicy::SKIP_CB
                                : AnchorCallbackPolicy::BIND_EMPTY_CB;
  };
  config.output_predicate = [](const popef::Anchor& anchor) {
    return anchor.programs().front() == 1 ? AnchorCallbackPolicy::BIND_USER_CB
                                          : AnchorCallbackPolicy::SKIP_CB;
  };
  Session session(testing::VariableModel(), config);
  session.bindToDevice(AnyDevice());
  EXPECT_THAT(Names(session.getUserInputAnchors()), ElementsAre());
  EXPECT_EQ(ErrorOf([&] { session.verify(); }),
            "input 'w' has no source: connect a queue, a handler or memory, or read the file with "
            "its tensor data\n"
            "output 'y' has no sink: connect a queue, a handler or memory\n"
            "output 'w' has no sink: connect a queue, a handler or memory");
  const Vector w{1, 2, 3, 4};
  Vector y{9, 9, 9, 9};
  session.setUserInputMemory("w", In(w));
  session.setUserOutputMemory("y", Out(y));
  session.runLoadPrograms();
  session.runMainPrograms();
  EXPECT_EQ(y, w);  // x reads zeros
}

TEST(SessionTest, BindingADeviceUnloadsTheSessionThatHasIt) {
  Session first(testing::SumModel());
  Session second(testing::SumModel());
  auto device = DeviceManager().getDevice(1);
  const auto id = device->id();
  first.bindToDevice(device);
  EXPECT_TRUE(first.isLoaded());
  second.bindToDevice(device);
  EXPECT_FALSE(first.isLoaded());
  EXPECT_EQ(first.device(), nullptr);
  EXPECT_EQ(second.device(), device);
  Vector a{1, 2, 3, 4};
  Vector y{};
  for (Session* session : {&first, &second}) {
    session->setUserInputHandler(Give(a));
    session->setUserOutputMemory("y", Out(y));
  }
  EXPECT_NE(ErrorOf([&] { first.runMainPrograms(); }), "");
  second.runMainPrograms();
  EXPECT_EQ(y, (Vector{2, 4, 6, 8}));
  // Nobody but the second session has it.
  device.reset();
  second.bindToDevice(AnyDevice());
  EXPECT_EQ(DeviceManager().getSpecificDevice(id)->id(), id);
}

TEST(SessionTest, UnloadsAndLoadsAgain) {
  Session session(testing::VariableModel());
  const auto device = AnyDevice();
  session.bindToDevice(device);
  const Vector x{};
  Vector y{};
  session.setUserInputMemory("x", In(x));
  session.setUserOutputMemory("y", Out(y));
  session.runLoadPrograms();
  session.unloadFromDevice();
  EXPECT_FALSE(session.isLoaded());
  EXPECT_EQ(session.device(), device);
  EXPECT_NE(ErrorOf([&] { session.runMainPrograms(); }), "");
  session.loadToDevice();
  EXPECT_EQ(ErrorOf([&] { session.runMainPrograms(); }),
            "the load program has not run: run it once before the main program");
  session.runLoadPrograms();
  session.runMainPrograms();
  EXPECT_EQ(y, (Vector{1, 2, 3, 4}));
}

TEST(SessionTest, MakesOneQueueManager) {
  Session session(testing::SumModel());
  EXPECT_EQ(session.queueManager(), nullptr);
  QueueManager* const manager = session.createQueueManager();
  EXPECT_EQ(session.queueManager(), manager);
  EXPECT_NE(ErrorOf([&] { session.createQueueManager(); }), "");
  EXPECT_EQ(ErrorOf([&] { Session(testing::SumModel()).createQueueManager(0); }),
            "num_buffers is 0, queues need room for at least 1 element");
}

TEST(SessionTest, ThrowsTheFaultsOfTheDevice) {
  poprt::device::PlanDeviceFaults("1:application_runtime_error");
  const auto device = AnyDevice();
  poprt::device::PlanDeviceFaults(std::nullopt);
  Session session(testing::SumModel());
  session.bindToDevice(device);
  QueueManager* const manager = session.createQueueManager();
  const Vector a{};
  Vector y{};
  auto dropped = std::make_shared<int>();
  manager->inputQueue("a").enqueue(a.data(), sizeof(a), [dropped] { ++*dropped; });
  manager->inputQueue("b").enqueue(a.data(), sizeof(a), [dropped] { ++*dropped; });
  manager->outputQueue("y").enqueue(y.data(), sizeof(y), [dropped] { ++*dropped; });
  EXPECT_THROW(session.runMainPrograms(), application_runtime_error);
  EXPECT_EQ(*dropped, 0);
  EXPECT_EQ(dropped.use_count(), 1);
}

TEST(SessionTest, LoadingForTheFirstTimeDoesNotUndoAStop) {
  Session session(testing::SumModel());
  session.createQueueManager();
  session.stop();
  session.runMainPrograms();  // returns without data
  EXPECT_TRUE(session.isLoaded());
  const Vector a{1, 2, 3, 4};
  Vector y{};
  session.queueManager()->inputQueue("a").enqueue(a.data(), sizeof(a));
  session.queueManager()->inputQueue("b").enqueue(a.data(), sizeof(a));
  session.queueManager()->outputQueue("y").enqueue(y.data(), sizeof(y));
  session.runMainPrograms();
  EXPECT_EQ(y, Vector{});
  session.runLoadPrograms();
  session.runMainPrograms();
  EXPECT_EQ(y, (Vector{2, 4, 6, 8}));
}

TEST(SessionTest, MayGoWhileAProgramWaits) {
  auto session = std::make_unique<Session>(testing::SumModel());
  session->bindToDevice(AnyDevice());
  std::promise<void> waits;
  bool told = false;
  session->createQueueManager(
      2,
      [&](InputRingBuffer*) {
        if (!std::exchange(told, true)) waits.set_value();
      },
      std::chrono::milliseconds(1));
  session->runLoadPrograms();
  std::thread main([session = session.get()] { session->runMainPrograms(); });
  waits.get_future().wait();
  session.reset();
  main.join();
}

TEST(SessionTest, RefusesOtherPackages) {
  const auto model = testing::SumModel();
  model->metadata.engineOptions().clear();
  EXPECT_NE(ErrorOf([&] { const Session session(model); }), "");
  SessionConfig config;
  config.check_package_hash = false;
  EXPECT_EQ(ErrorOf([&] { const Session session(model, config); }), "");
  EXPECT_EQ(ErrorOf([&] { const Session session(nullptr); }), "there is no model");
  EXPECT_NE(ErrorOf([&] { const Session session({"no.popef"}); }), "");
}

}  // namespace
}  // namespace model_runtime
