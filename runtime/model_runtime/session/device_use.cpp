#include "model_runtime/session/device_use.hpp"

#include <string>

#include "model_runtime/Errors.hpp"

namespace model_runtime {

void DeviceUse::Check(const popef::Metadata& metadata) const {
  std::string problems;
  if (metadata.numIpus() > ipus_.size()) {
    problems = "the model needs " + std::to_string(metadata.numIpus()) + " IPUs, the device has " +
               std::to_string(ipus_.size());
  }
  if (ipu_version_ != 0 && metadata.ipuVersion() != 0 && metadata.ipuVersion() != ipu_version_) {
    problems += (problems.empty() ? "" : "\n");
    problems += "the model is for ipu" + std::to_string(metadata.ipuVersion()) +
                ", the device is an ipu" + std::to_string(ipu_version_);
  }
  if (!problems.empty()) throw Error(problems);
}

void DeviceUse::Claim(const std::shared_ptr<DeviceUser>& user) {
  std::shared_ptr<DeviceUser> before;
  {
    const std::lock_guard lock(mutex_);
    before = user_.lock();
    user_ = user;
  }
  if (before != nullptr && before != user) before->GiveUp(*this);
}

void DeviceUse::Release(const DeviceUser* user) {
  const std::lock_guard lock(mutex_);
  if (user_.lock().get() == user) user_.reset();
}

bool DeviceUse::IsUsedBy(const DeviceUser* user) const {
  const std::lock_guard lock(mutex_);
  return user_.lock().get() == user;
}

}  // namespace model_runtime
