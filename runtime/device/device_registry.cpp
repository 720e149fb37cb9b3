#include "runtime/device/device_registry.hpp"

#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/device/device_locks.hpp"
#include "runtime/device/faulty_device.hpp"

namespace poprt::device {
namespace {

constexpr int kDefaultDevices = 8;
constexpr int kMostDevices = 1024;

std::optional<std::string> Configured(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return std::nullopt;
  return text;
}

int ConfiguredDevices() {
  const std::optional<std::string> text = Configured("POPRT_NUM_IPUS");
  if (!text) return kDefaultDevices;
  char* end = nullptr;
  const long count = std::strtol(text->c_str(), &end, 10);
  if (*end != '\0' || count < 1 || count > kMostDevices) {
    throw DeviceError("POPRT_NUM_IPUS is '" + *text + "', allowed is a number from 1 to " +
                      std::to_string(kMostDevices));
  }
  return static_cast<int>(count);
}

}  // namespace

struct DeviceRegistry::State {
  explicit State(int count)
      : taken(static_cast<std::size_t>(count), false),
        locks(new DeviceLocks(count, Configured("POPRT_DEVICE_LOCK_DIR"))) {}

  /// `count` free ones of the candidates, marked as taken, or none. The caller holds the mutex.
  std::vector<int> TryTake(const std::vector<int>& candidates, int count) {
    std::vector<int> found;
    try {
      for (const int id : candidates) {
        if (found.size() == static_cast<std::size_t>(count)) break;
        if (!taken[static_cast<std::size_t>(id)] && locks->TryLock(id)) found.push_back(id);
      }
    } catch (const DeviceError&) {
      for (const int id : found) locks->Unlock(id);
      throw;
    }
    if (found.size() < static_cast<std::size_t>(count)) {
      for (const int id : found) locks->Unlock(id);
      return {};
    }
    for (const int id : found) taken[static_cast<std::size_t>(id)] = true;
    return found;
  }

  /// `fork_generation` of when it was taken.
  void Release(int id, int generation) {
    {
      const std::lock_guard lock(mutex);
      if (generation != fork_generation) return;  // the parent has it
      locks->Unlock(id);
      taken[static_cast<std::size_t>(id)] = false;
    }
    released.notify_all();
  }

  /// In the child of fork(): all devices are as another process has them.
  void Forget() {
    std::fill(taken.begin(), taken.end(), false);
    ++fork_generation;
    // Threads the child does not have may wait for the old one, which waits for them in turn.
    std::construct_at(&released);
  }

  std::mutex mutex;
  std::condition_variable released;
  std::vector<bool> taken;   ///< by this process
  int fork_generation = 0;   ///< changes in children
  DeviceLocks* const locks;  ///< lives until the process ends
};

/// A device that is taken; its end releases it.
class DeviceRegistry::Lease {
 public:
  Lease(std::shared_ptr<State> state, int id)
      : state_(std::move(state)), id_(id), generation_(state_->fork_generation) {}
  ~Lease() { state_->Release(id_, generation_); }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  int id() const { return id_; }

 private:
  std::shared_ptr<State> state_;
  int id_;
  int generation_;
};

DeviceRegistry::DeviceRegistry(int count) : state_(std::make_shared<State>(count)) {}

DeviceRegistry& DeviceRegistry::Get() {
  static auto* registry = [] {
    auto* const made = new DeviceRegistry(ConfiguredDevices());
    // After those of DeviceLocks, which has its mutexes locked last: as TryTake does.
    static State& state = *made->state_;
    pthread_atfork([] { state.mutex.lock(); }, [] { state.mutex.unlock(); },
                   [] {
                     state.Forget();
                     state.mutex.unlock();
                   });
    return made;
  }();
  return *registry;
}

int DeviceRegistry::size() const { return static_cast<int>(state_->taken.size()); }

std::vector<std::shared_ptr<Device>> DeviceRegistry::Take(const std::vector<int>& candidates,
                                                          int count,
                                                          std::chrono::nanoseconds timeout,
                                                          std::chrono::nanoseconds poll_interval) {
  using Clock = std::chrono::steady_clock;
  // A longer wait than this would overflow the clock.
  constexpr std::chrono::nanoseconds kForever = std::chrono::hours(24 * 365);
  const Clock::time_point deadline = Clock::now() + std::min(timeout, kForever);
  std::vector<int> found;
  {
    std::unique_lock lock(state_->mutex);
    while (true) {
      found = state_->TryTake(candidates, count);
      const Clock::time_point now = Clock::now();
      if (!found.empty() || now >= deadline) break;
      state_->released.wait_until(lock,
                                  std::min(deadline, now + std::min(poll_interval, kForever)));
    }
  }
  // Whatever fails, each lease ends.
  std::vector<std::shared_ptr<Lease>> leases;
  leases.reserve(found.size());
  for (const int id : found) leases.push_back(std::make_shared<Lease>(state_, id));
  std::vector<std::shared_ptr<Device>> devices;
  devices.reserve(found.size());
  for (const auto& lease : leases) {
    std::shared_ptr<Device> device = MakeDevice(lease->id());
    devices.emplace_back(device.get(), [lease = lease, device = device](Device*) mutable {
      device.reset();
      lease.reset();
    });
  }
  return devices;
}

std::vector<std::shared_ptr<Device>> DeviceRegistry::AcquireSeveral(
    int count, std::chrono::nanoseconds timeout, std::chrono::nanoseconds poll_interval) {
  if (count < 1 || count > size()) {
    throw DeviceError(std::to_string(count) + " devices are wanted, there are " +
                      std::to_string(size()) + ": set POPRT_NUM_IPUS");
  }
  std::vector<int> all(state_->taken.size());
  std::iota(all.begin(), all.end(), 0);
  auto devices = Take(all, count, timeout, poll_interval);
  if (devices.empty()) {
    const std::string which = count == 1 ? "all " + std::to_string(size()) + " devices are in use"
                                         : "of " + std::to_string(size()) + " devices fewer than " +
                                               std::to_string(count) + " are free";
    throw DeviceError(which +
                      ", by this process or others: wait longer, release one, or set "
                      "POPRT_NUM_IPUS");
  }
  return devices;
}

std::shared_ptr<Device> DeviceRegistry::Acquire(std::chrono::nanoseconds timeout,
                                                std::chrono::nanoseconds poll_interval) {
  return AcquireSeveral(1, timeout, poll_interval).front();
}

std::shared_ptr<Device> DeviceRegistry::AcquireById(int id, std::chrono::nanoseconds timeout,
                                                    std::chrono::nanoseconds poll_interval) {
  if (id < 0 || id >= size()) {
    throw DeviceError("there is no device " + std::to_string(id) + ", devices are numbered 0 to " +
                      std::to_string(size() - 1));
  }
  const auto devices = Take({id}, 1, timeout, poll_interval);
  if (devices.empty()) {
    throw DeviceError("device " + std::to_string(id) +
                      " is in use, by this process or another: wait longer or release it");
  }
  return devices.front();
}

}  // namespace poprt::device
