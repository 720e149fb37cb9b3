#include <gtest/gtest.h>

#include <thread>

#include "model_runtime/DeviceManager.hpp"
#include "model_runtime/Executable.hpp"
#include "model_runtime/ModelRunner.hpp"
#include "model_runtime/session_test_models.hpp"

namespace model_runtime {
namespace {

using std::chrono_literals::operator""s;
using testing::ErrorOf;

TEST(DeviceManagerTest, GivesDevicesExclusively) {
  const DeviceManager manager;
  const auto first = manager.getDevice(testing::SumModel());
  const auto second = manager.getDevice(1);
  EXPECT_NE(first->id(), second->id());
  EXPECT_EQ(first->numIpus(), 1);
  EXPECT_NE(ErrorOf([&] { manager.getSpecificDevice(first->id()); }), "");
  EXPECT_NE(ErrorOf([&] { manager.getDevice(manager.getNumDevices()); }), "");
}

TEST(DeviceManagerTest, GivesSeveralIpusAtOnce) {
  const DeviceManager manager;
  auto device = manager.getDevice(manager.getNumDevices());
  EXPECT_EQ(device->numIpus(), manager.getNumDevices());
  EXPECT_NE(ErrorOf([&] { manager.getDevice(testing::SumModel()); }), "");
  std::thread releaser([&] { device.reset(); });
  EXPECT_EQ(manager.getDevice(1, DeviceWaitConfig(DeviceWaitStrategy::WAIT_FOREVER))->numIpus(), 1);
  releaser.join();
}

TEST(DeviceManagerTest, GivesADeviceByNumber) {
  const DeviceManager manager;
  EXPECT_EQ(manager.getSpecificDevice(3)->id(), 3);
  EXPECT_EQ(ErrorOf([&] { manager.getSpecificDevice(-1); }),
            "there is no device -1, devices are numbered 0 to " +
                std::to_string(manager.getNumDevices() - 1) + " (POPRT_NUM_IPUS says how many)");
}

TEST(DeviceManagerTest, EveryReplicaOfARunnerHasTheIpusOfItsModel) {
  const DeviceManager manager;
  const std::int64_t all = manager.getNumDevices();
  ModelRunnerConfig config;
  config.replication_factor = 2;
  {
    const ModelRunner runner(testing::ModelFor(3, 21), config);
    const auto rest = manager.getDevice(all - 6);
    EXPECT_NE(ErrorOf([&] { manager.getDevice(1); }), "");
  }
  config.replica_id_to_device[1] = manager.getDevice(3);
  {
    const ModelRunner runner(testing::ModelFor(3, 21), config);
    const auto rest = manager.getDevice(all - 6);
    EXPECT_NE(ErrorOf([&] { manager.getDevice(1); }), "");
  }
  config = {};
  config.replication_factor = 3;
  EXPECT_EQ(ErrorOf([&] { ModelRunner(testing::ModelFor(3, 21), config); }),
            "replication_factor is 3 and the model needs 3 IPUs, there are " + std::to_string(all) +
                " devices: take fewer replicas or set POPRT_NUM_IPUS");
}

TEST(DeviceManagerTest, SaysWhenNoDeviceCanSuit) {
  const DeviceManager manager;
  const std::string ipus = std::to_string(manager.getNumDevices());
  EXPECT_EQ(ErrorOf([&] { manager.getDevice(testing::ModelFor(5000, 3)); }),
            "5000 IPUs are wanted, this machine has " + ipus +
                " (POPRT_NUM_IPUS says how many)\n"
                "there are no devices of IPU version 3, allowed are 1, 2 and 21");
  EXPECT_EQ(ErrorOf([&] { manager.getDevice(nullptr); }), "there is no model");
  EXPECT_EQ(manager.getDevice(testing::ModelFor(2, 21))->ipuVersion(), 21);
}

TEST(DeviceManagerTest, SimulatedDevicesAreTheirOwn) {
  const DeviceManager manager;
  const auto all = manager.getDevice(manager.getNumDevices());
  const auto device = manager.createIpuModelDevice(2, 21, 100);
  EXPECT_EQ(device->id(), -1);
  EXPECT_EQ(device->numIpus(), 2);
  EXPECT_EQ(device->ipuVersion(), 21);
  EXPECT_EQ(device->tilesPerIpu(), 100);
  EXPECT_EQ(manager.createSmallIpuModelDevice(1, 2)->tilesPerIpu(), 4);
  EXPECT_EQ(manager.createIpuModelDevice(testing::ModelFor(3, 21), 7)->numIpus(), 3);
  EXPECT_EQ(manager.createSmallIpuModelDevice(testing::ModelFor(3, 21))->ipuVersion(), 21);
  EXPECT_EQ(ErrorOf([&] { manager.createIpuModelDevice(0, 5, -2); }),
            "num_ipus is 0, allowed are 1 to 1024\n"
            "there are no devices of IPU version 5, allowed are 1, 2 and 21\n"
            "tiles_per_ipu is -2, allowed are 1 to 1472");
}

TEST(DeviceManagerTest, DevicesRefuseModelsForOthers) {
  const auto device = DeviceManager().createSmallIpuModelDevice(1, 2);
  Executable executable(testing::ModelFor(2, 21));
  EXPECT_EQ(ErrorOf([&] { executable.load(device); }),
            "the model needs 2 IPUs, the device has 1\n"
            "the model is for ipu21, the device is an ipu2");
  EXPECT_FALSE(executable.isLoaded());
}

TEST(DeviceManagerTest, WaitsForTheTimeoutHoweverLong) {
  EXPECT_EQ(WaitTime({}), 0s);
  EXPECT_EQ(WaitTime(DeviceWaitConfig(600s)), 600s);
  EXPECT_EQ(WaitTime(DeviceWaitConfig(std::chrono::seconds::max())), std::chrono::hours(24 * 365));
  EXPECT_EQ(WaitTime(DeviceWaitConfig(std::chrono::seconds::min())), 0s);
}

TEST(DeviceManagerTest, PollsAtLeastEverySleepTime) {
  EXPECT_EQ(PollInterval({}), std::chrono::milliseconds(50));
  EXPECT_EQ(PollInterval(DeviceWaitConfig(600s, 0s)), std::chrono::milliseconds(1));
  EXPECT_EQ(PollInterval(DeviceWaitConfig(600s, std::chrono::seconds::min())),
            std::chrono::milliseconds(1));
}

}  // namespace
}  // namespace model_runtime
