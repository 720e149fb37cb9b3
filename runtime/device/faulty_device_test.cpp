#include "runtime/device/faulty_device.hpp"

#include <gtest/gtest.h>

namespace poprt::device {
namespace {

/// A program without inputs and outputs.
std::shared_ptr<const Image> EmptyImage() {
  Image image;
  image.payload.program.branches.emplace_back().name = "empty";
  return std::make_shared<const Image>(std::move(image));
}

std::unique_ptr<Device> Faulty(int id, const std::string& plan) {
  PlanDeviceFaults(plan);
  auto device = MakeDevice(id);
  PlanDeviceFaults(std::nullopt);
  return device;
}

/// The name of the fault of a run; "" if it has none.
std::string RunOnce(LoadedProgram& program) {
  try {
    program.Run(0, {}, {}, {});
  } catch (const DeviceFault& fault) {
    const std::string name(NameOf(fault.kind()));
    return fault.kind() == FaultKind::kRecoverable
               ? name + "/" + std::string(NameOf(fault.action()))
               : name;
  }
  return "";
}

std::string ErrorOf(const std::string& plan) {
  try {
    ParseFaults(plan);
  } catch (const DeviceError& error) {
    const std::string text = error.what();
    return text.substr(0, text.find(';'));
  }
  return "";
}

TEST(FaultyDeviceTest, FaultsAtTheNthRunAndStaysFaulty) {
  const auto device = Faulty(0, "2:application_runtime_error");
  const auto program = device->Load(EmptyImage());
  EXPECT_EQ(RunOnce(*program), "");
  EXPECT_EQ(RunOnce(*program), "application_runtime_error");
  EXPECT_EQ(RunOnce(*program), "application_runtime_error");
  const auto another = device->Load(EmptyImage());
  EXPECT_EQ(RunOnce(*another), "application_runtime_error");
}

TEST(FaultyDeviceTest, ResetHealsAndUnloads) {
  const auto device = Faulty(0, "1:recoverable_runtime_error/FULL_RESET");
  const auto program = device->Load(EmptyImage());
  EXPECT_EQ(RunOnce(*program), "recoverable_runtime_error/FULL_RESET");
  device->Reset();
  try {
    RunOnce(*program);
    ADD_FAILURE() << "ran a program from before the reset";
  } catch (const DeviceError& error) {
    EXPECT_STREQ(error.what(), "device 0 was reset: load the program again");
  }
  const auto again = device->Load(EmptyImage());
  EXPECT_EQ(RunOnce(*again), "");
}

TEST(FaultyDeviceTest, RepeatsAndDistinguishesDevices) {
  const std::string plan = "3@2*:unknown_runtime_error,1:runtime_error";
  const auto device = Faulty(3, plan);
  const auto other = Faulty(4, plan);
  const auto run = [](Device& target) {
    const auto program = target.Load(EmptyImage());
    std::string fault = RunOnce(*program);
    if (!fault.empty()) target.Reset();
    return fault;
  };
  EXPECT_EQ(run(*device), "runtime_error");
  EXPECT_EQ(run(*device), "unknown_runtime_error");
  EXPECT_EQ(run(*device), "");
  EXPECT_EQ(run(*device), "unknown_runtime_error");
  EXPECT_EQ(run(*other), "runtime_error");
  EXPECT_EQ(run(*other), "");
}

TEST(FaultyDeviceTest, RefusesPlansItCannotRead) {
  EXPECT_EQ(ErrorOf("3"), "planned fault '3': there is no ':' before the class");
  EXPECT_EQ(ErrorOf("0:runtime_error"),
            "planned fault '0:runtime_error': the run is '0', allowed is a number from 1");
  EXPECT_EQ(ErrorOf("x@1:runtime_error"),
            "planned fault 'x@1:runtime_error': the device is 'x', allowed is a number from 0");
  EXPECT_EQ(ErrorOf("1:runtime_error,2:oops"),
            "planned fault '2:oops': class 'oops' does not exist, there are "
            "application_runtime_error, recoverable_runtime_error, unknown_runtime_error, "
            "runtime_error");
  EXPECT_EQ(ErrorOf("1:recoverable_runtime_error"),
            "planned fault '1:recoverable_runtime_error': recoverable_runtime_error has an action, "
            "no other class has");
  EXPECT_EQ(ErrorOf("1:recoverable_runtime_error/OFF"),
            "planned fault '1:recoverable_runtime_error/OFF': action 'OFF' does not exist, there "
            "are IPU_RESET, PARTITION_RESET, FULL_RESET");
}

TEST(FaultyDeviceTest, EnvironmentPlansFaults) {
  setenv("POPRT_DEVICE_FAULTS", "1:unknown_runtime_error", 1);
  const auto device = MakeDevice(0);
  setenv("POPRT_DEVICE_FAULTS", "1:", 1);
  EXPECT_THROW(MakeDevice(0), DeviceError);
  unsetenv("POPRT_DEVICE_FAULTS");
  const auto program = device->Load(EmptyImage());
  EXPECT_EQ(RunOnce(*program), "unknown_runtime_error");
}

}  // namespace
}  // namespace poprt::device
