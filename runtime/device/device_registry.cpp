#include "runtime/device/device_registry.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/device/model_device.hpp"

namespace poprt::device {
namespace {

constexpr int kDefaultDevices = 4;
constexpr int kMostDevices = 1024;

int ConfiguredDevices() {
  const char* text = std::getenv("POPRT_NUM_IPUS");
  if (text == nullptr || *text == '\0') return kDefaultDevices;
  char* end = nullptr;
  const long count = std::strtol(text, &end, 10);
  if (*end != '\0' || count < 1 || count > kMostDevices) {
    throw DeviceError("POPRT_NUM_IPUS is '" + std::string(text) +
                      "', allowed is a number from 1 to " + std::to_string(kMostDevices));
  }
  return static_cast<int>(count);
}

}  // namespace

struct DeviceRegistry::State {
  std::mutex mutex;
  std::condition_variable released;
  std::vector<bool> taken;

  /// The number of a free device that `wanted` accepts, marked as taken; waits up to `timeout`.
  std::optional<int> Take(const std::function<bool(int)>& wanted,
                          std::chrono::nanoseconds timeout) {
    std::optional<int> found;
    const auto take_free = [&] {
      for (std::size_t i = 0; i < taken.size() && !found; ++i) {
        if (!taken[i] && wanted(static_cast<int>(i))) found = static_cast<int>(i);
      }
      return found.has_value();
    };
    std::unique_lock lock(mutex);
    // A longer wait than this would overflow the clock.
    constexpr std::chrono::nanoseconds kForever = std::chrono::hours(24 * 365);
    if (released.wait_for(lock, std::min(timeout, kForever), take_free)) {
      taken[static_cast<std::size_t>(*found)] = true;
    }
    return found;
  }

  void Release(int id) {
    {
      const std::lock_guard lock(mutex);
      taken[static_cast<std::size_t>(id)] = false;
    }
    released.notify_all();
  }
};

std::shared_ptr<Device> DeviceRegistry::Wrap(const std::shared_ptr<State>& state, int id) {
  return {MakeModelDevice(id).release(), [state, id](Device* device) {
            delete device;
            state->Release(id);
          }};
}

DeviceRegistry::DeviceRegistry(int count) : state_(std::make_shared<State>()) {
  state_->taken.resize(static_cast<std::size_t>(count), false);
}

DeviceRegistry& DeviceRegistry::Get() {
  static auto* registry = new DeviceRegistry(ConfiguredDevices());
  return *registry;
}

int DeviceRegistry::size() const { return static_cast<int>(state_->taken.size()); }

std::shared_ptr<Device> DeviceRegistry::Acquire(std::chrono::nanoseconds timeout) {
  const auto id = state_->Take([](int) { return true; }, timeout);
  if (!id.has_value()) {
    throw DeviceError("all " + std::to_string(size()) +
                      " devices are in use: wait longer, release one, or set POPRT_NUM_IPUS");
  }
  return Wrap(state_, *id);
}

std::shared_ptr<Device> DeviceRegistry::AcquireById(int id, std::chrono::nanoseconds timeout) {
  if (id < 0 || id >= size()) {
    throw DeviceError("there is no device " + std::to_string(id) + ", devices are numbered 0 to " +
                      std::to_string(size() - 1));
  }
  if (!state_->Take([id](int candidate) { return candidate == id; }, timeout).has_value()) {
    throw DeviceError("device " + std::to_string(id) + " is in use: wait longer or release it");
  }
  return Wrap(state_, id);
}

}  // namespace poprt::device
