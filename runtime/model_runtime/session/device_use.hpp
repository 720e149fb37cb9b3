#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "popef/Types.hpp"
#include "runtime/device/device.hpp"

namespace model_runtime {

class DeviceUse;

/// Whoever has a program on a device.
class DeviceUser {
 public:
  DeviceUser() = default;
  virtual ~DeviceUser() = default;
  DeviceUser(const DeviceUser&) = delete;
  DeviceUser& operator=(const DeviceUser&) = delete;

  /// Whether others may take its device; then GiveUp is called.
  virtual bool yields() const = 0;
  /// Unloads its program from a device that another user has now, if it is still there.
  virtual void GiveUp(const DeviceUse& use) = 0;
};

/// The IPUs of a Device and who uses them. Thread-safe.
class DeviceUse {
 public:
  DeviceUse(std::vector<std::shared_ptr<poprt::device::Device>> ipus, std::int64_t ipu_version,
            std::int64_t tiles_per_ipu)
      : ipus_(std::move(ipus)), ipu_version_(ipu_version), tiles_per_ipu_(tiles_per_ipu) {}

  /// The one that programs are loaded on.
  poprt::device::Device& device() const { return *ipus_.front(); }
  std::int64_t id() const { return ipus_.front()->id(); }
  std::int64_t num_ipus() const { return static_cast<std::int64_t>(ipus_.size()); }
  std::int64_t ipu_version() const { return ipu_version_; }
  std::int64_t tiles_per_ipu() const { return tiles_per_ipu_; }

  /// Throws Error if programs with this metadata do not run here, or somebody has the device who
  /// does not yield it.
  void Check(const popef::Metadata& metadata) const;

  /// Makes `user` the user; the one before has given up when this returns. Throws Error if that one
  /// does not yield.
  void Claim(const std::shared_ptr<DeviceUser>& user);
  /// Ends the use by `user`, if it is the user. A user that is gone is none any more.
  void Release(const DeviceUser* user);
  bool IsUsedBy(const DeviceUser* user) const;

 private:
  std::shared_ptr<DeviceUser> user() const;

  const std::vector<std::shared_ptr<poprt::device::Device>> ipus_;
  const std::int64_t ipu_version_;
  const std::int64_t tiles_per_ipu_;
  mutable std::mutex mutex_;
  std::weak_ptr<DeviceUser> user_;
};

}  // namespace model_runtime
