#include "model_runtime/serving/device_program.hpp"

#include <utility>

namespace model_runtime {

DeviceProgram::DeviceProgram(std::shared_ptr<const poprt::device::Image> image,
                             std::shared_ptr<poprt::device::Device> device,
                             const SharedVariables& variables, bool auto_reset)
    : image_(std::move(image)),
      device_(std::move(device)),
      variables_(variables),
      auto_reset_(auto_reset) {
  Load();
}

void DeviceProgram::Load() {
  auto program = device_->Load(image_);
  variables_.Load(*program);
  program_ = std::move(program);
  ++generation_;
}

const DeviceFailure* DeviceProgram::lasting_failure() const {
  if (!failure_ || (auto_reset_ && failure_->HealedByReset())) return nullptr;
  return &*failure_;
}

const DeviceFailure* DeviceProgram::Prepare() {
  if (!failure_) return nullptr;
  if (lasting_failure() != nullptr) return &*failure_;
  try {
    program_.reset();
    device_->Reset();
    Load();
    failure_.reset();
    return nullptr;
  } catch (...) {
    return &Fail();
  }
}

const DeviceFailure& DeviceProgram::Fail() noexcept {
  if (lasting_failure() == nullptr) failure_ = DeviceFailure::Current();
  return *failure_;
}

const DeviceFailure* DeviceProgram::Run(const Batch& batch) {
  if (const DeviceFailure* failure = Prepare()) return failure;
  try {
    program_->Run(batch.branch, batch.inputs, batch.outputs, batch.extents);
    return nullptr;
  } catch (...) {
    return &Fail();
  }
}

void DeviceProgram::LoadVariables() {
  if (const DeviceFailure* failure = lasting_failure()) failure->Throw();
  if (failure_) return;  // the next run loads them
  variables_.Load(*program_);
}

}  // namespace model_runtime
