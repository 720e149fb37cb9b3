#include "model_runtime/session/device_use.hpp"

#include <string>

#include "model_runtime/Errors.hpp"

namespace model_runtime {
namespace {

constexpr const char* kTaken =
    "a model runner has the device: destroy it first, or take another device";

}  // namespace

void DeviceUse::Check(const popef::Metadata& metadata) const {
  std::string problems;
  const auto add = [&](const std::string& problem) {
    problems += (problems.empty() ? "" : "\n") + problem;
  };
  if (metadata.numIpus() > ipus_.size()) {
    add("the model needs " + std::to_string(metadata.numIpus()) + " IPUs, the device has " +
        std::to_string(ipus_.size()));
  }
  if (ipu_version_ != 0 && metadata.ipuVersion() != 0 && metadata.ipuVersion() != ipu_version_) {
    add("the model is for ipu" + std::to_string(metadata.ipuVersion()) + ", the device is an ipu" +
        std::to_string(ipu_version_));
  }
  const auto user = this->user();
  if (user != nullptr && !user->yields()) add(kTaken);
  if (!problems.empty()) throw Error(problems);
}

std::shared_ptr<DeviceUser> DeviceUse::user() const {
  const std::lock_guard lock(mutex_);
  return user_.lock();
}

void DeviceUse::Claim(const std::shared_ptr<DeviceUser>& user) {
  std::shared_ptr<DeviceUser> before;
  {
    const std::lock_guard lock(mutex_);
    before = user_.lock();
    if (before != nullptr && before != user && !before->yields()) throw Error(kTaken);
    user_ = user;
  }
  if (before != nullptr && before != user) before->GiveUp(*this);
}

void DeviceUse::Release(const DeviceUser* user) {
  const std::lock_guard lock(mutex_);
  if (user_.lock().get() == user) user_.reset();
}

bool DeviceUse::IsUsedBy(const DeviceUser* user) const { return this->user().get() == user; }

}  // namespace model_runtime
