#include "model_runtime/Executable.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "model_runtime/Errors.hpp"
#include "model_runtime/session_test_models.hpp"

namespace model_runtime {
namespace {

using testing::ErrorOf;
using testing::Vector;

ConstTensorMemoryView In(const Vector& x) { return {x.data(), sizeof(x)}; }
TensorMemoryView Out(Vector& y) { return {y.data(), sizeof(y)}; }

std::shared_ptr<Device> AnyDevice() { return DeviceManager().createSmallIpuModelDevice(1, 2); }

TEST(ExecutableTest, RunsTheMainProgram) {
  Executable executable(testing::SumModel());
  const Vector a{1, 2, 3, 4};
  const Vector b{10, 20, 30, 40};
  Vector y{};
  executable.connectInput("a", In(a));
  executable.connectInput("b", In(b));
  executable.connectOutput("y", Out(y));
  EXPECT_FALSE(executable.isLoaded());
  EXPECT_NE(ErrorOf([&] { executable.runMainPrograms(); }), "");
  executable.load(AnyDevice());
  EXPECT_TRUE(executable.isLoaded());
  executable.runMainPrograms();
  EXPECT_EQ(y, (Vector{11, 22, 33, 44}));
}

TEST(ExecutableTest, UsesTensorAndFeedDataOfTheContainer) {
  Executable executable(testing::DataModel());
  executable.load(AnyDevice());
  Vector y{};
  executable.connectOutput("y", Out(y));
  executable.verify();
  executable.runMainPrograms();
  EXPECT_EQ(y, (Vector{11, 12, 13, 14}));
  executable.runMainPrograms();
  EXPECT_EQ(y, (Vector{21, 22, 23, 24}));
  executable.runMainPrograms();
  EXPECT_EQ(y, (Vector{11, 12, 13, 14}));
  const Vector b{};
  executable.connectInput("b", In(b));
  executable.runMainPrograms();
  EXPECT_EQ(y, (Vector{1, 2, 3, 4}));
  EXPECT_TRUE(executable.connectInputWithModelData("b"));
}

TEST(ExecutableTest, LoadsAndSavesVariables) {
  Executable executable(testing::VariableModel());
  executable.load(AnyDevice());
  const Vector x{10, 10, 10, 10};
  Vector y{};
  executable.connectInput("x", In(x));
  executable.connectOutput("y", Out(y));
  EXPECT_EQ(ErrorOf([&] { executable.runMainPrograms(); }),
            "the load program has not run: run it once before the main program");
  executable.runLoadPrograms();
  executable.runMainPrograms();
  EXPECT_EQ(y, (Vector{11, 12, 13, 14}));
  const Vector w{5, 6, 7, 8};
  executable.connectInput("w", In(w));
  executable.runLoadPrograms();
  executable.runMainPrograms();
  EXPECT_EQ(y, (Vector{15, 16, 17, 18}));
  Vector saved{};
  executable.connectOutput("w", Out(saved));
  executable.runSavePrograms();
  EXPECT_EQ(saved, w);
}

TEST(ExecutableTest, RunsTheGraphThatIndexSelects) {
  Executable executable(testing::FusedModel());
  executable.load(AnyDevice());
  const Vector a{1, 2, 3, 4};
  Vector sum{};
  Vector twice{};
  std::uint32_t index = 1;
  executable.connectInput("index", ConstTensorMemoryView(&index, sizeof(index)));
  executable.connectInput("sum/a", In(a));
  executable.connectInput("graph0/b", In(a));
  executable.connectInput("graph1/x", In(a));
  executable.connectOutput("graph0/y", Out(sum));
  executable.connectOutput("double/y", Out(twice));
  executable.runMainPrograms();
  EXPECT_EQ(twice, (Vector{2, 4, 6, 8}));
  EXPECT_EQ(sum, (Vector{}));
  index = 0;
  executable.runMainPrograms();
  EXPECT_EQ(sum, (Vector{2, 4, 6, 8}));
  index = 2;
  EXPECT_EQ(ErrorOf([&] { executable.runMainPrograms(); }),
            "input 'index' is 2, allowed are 0 to 1");
}

TEST(ExecutableTest, NamesWhatIsNotConnected) {
  Executable executable(testing::VariableModel(false));
  executable.load(AnyDevice());
  const std::string advice =
      " has no source: connect a queue, a handler or memory, or read the file with its tensor data";
  const std::string no_sink = " has no sink: connect a queue, a handler or memory";
  EXPECT_EQ(ErrorOf([&] { executable.verify(); }), "input 'x'" + advice + "\ninput 'w'" + advice +
                                                       "\noutput 'y'" + no_sink + "\noutput 'w'" +
                                                       no_sink);
  EXPECT_EQ(ErrorOf([&] { executable.runLoadPrograms(); }), "input 'w'" + advice);
  EXPECT_EQ(ErrorOf([&] { executable.runMainPrograms(); }),
            "input 'x'" + advice + "\noutput 'y'" + no_sink);
  Vector small{};
  EXPECT_EQ(ErrorOf([&] {
              executable.connectInput("x", {small.data(), 8});
            }),
            "the memory for 'x' has 8 bytes, allowed are 16");
  EXPECT_EQ(ErrorOf([&] { executable.connectOutput("x", Out(small)); }),
            "there is no output 'x', outputs are: 'y' 'w'");
}

TEST(ExecutableTest, StopsUntilTheLoadProgramRuns) {
  Executable executable(testing::SumModel());
  executable.load(AnyDevice());
  const Vector a{1, 2, 3, 4};
  Vector y{};
  executable.connectInput("a", In(a));
  executable.connectInput("b", In(a));
  executable.connectOutput("y", Out(y));
  executable.stop();
  executable.runMainPrograms();
  EXPECT_EQ(y, Vector{});
  executable.runLoadPrograms();
  executable.runMainPrograms();
  EXPECT_EQ(y, (Vector{2, 4, 6, 8}));
}

TEST(ExecutableTest, AnotherOnTheSameDeviceUnloadsIt) {
  const auto device = AnyDevice();
  const auto other_device = AnyDevice();
  Executable first(testing::SumModel());
  Executable second(testing::SumModel());
  first.load(device);
  second.load(device);
  EXPECT_FALSE(first.isLoaded());
  EXPECT_EQ(first.device(), nullptr);
  EXPECT_TRUE(second.isLoaded());
  first.load(other_device);
  first.load(device);
  EXPECT_TRUE(first.isLoaded());
  EXPECT_FALSE(second.isLoaded());
  EXPECT_EQ(other_device.use_count(), 1);
}

TEST(ExecutableTest, OneOfTwoThatLoadAtTheSameTimeHasTheDevice) {
  const auto device = DeviceManager().createSmallIpuModelDevice(1, 2);
  for (int i = 0; i < 100; ++i) {
    Executable first(testing::SumModel());
    Executable second(testing::SumModel());
    std::thread other([&] { ErrorOf([&] { second.load(device); }); });
    ErrorOf([&] { first.load(device); });
    other.join();
    EXPECT_FALSE(first.isLoaded() && second.isLoaded());
  }
}

}  // namespace
}  // namespace model_runtime
