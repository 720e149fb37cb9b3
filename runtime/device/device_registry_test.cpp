#include "runtime/device/device_registry.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace poprt::device {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

TEST(DeviceRegistryTest, GivesEveryDeviceOnce) {
  DeviceRegistry& registry = DeviceRegistry::Get();
  std::vector<std::shared_ptr<Device>> devices;
  for (int i = 0; i < registry.size(); ++i) devices.push_back(registry.Acquire());
  EXPECT_EQ(devices.back()->id(), registry.size() - 1);
  EXPECT_THROW(registry.Acquire(), DeviceError);
  devices[1].reset();
  EXPECT_EQ(registry.Acquire()->id(), 1);
}

TEST(DeviceRegistryTest, GivesADeviceByNumber) {
  DeviceRegistry& registry = DeviceRegistry::Get();
  const auto device = registry.AcquireById(2);
  EXPECT_EQ(device->id(), 2);
  EXPECT_THROW(registry.AcquireById(2, 1ms), DeviceError);
  EXPECT_THROW(registry.AcquireById(registry.size()), DeviceError);
  EXPECT_THROW(registry.AcquireById(-1), DeviceError);
}

TEST(DeviceRegistryTest, WaitsForARelease) {
  DeviceRegistry& registry = DeviceRegistry::Get();
  auto device = registry.AcquireById(0);
  std::thread releaser([&] { device.reset(); });
  EXPECT_EQ(registry.AcquireById(0, 60s)->id(), 0);
  releaser.join();
}

}  // namespace
}  // namespace poprt::device
