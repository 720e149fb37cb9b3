#include "model_runtime/serving/device_program.hpp"

#include <algorithm>
#include <utility>

namespace model_runtime {

using poprt::program::Branch;

DeviceProgram::DeviceProgram(std::shared_ptr<const poprt::device::Image> image,
                             std::shared_ptr<poprt::device::Device> device,
                             const SharedVariables& variables, bool auto_reset)
    : image_(std::move(image)),
      device_(std::move(device)),
      variables_(variables),
      auto_reset_(auto_reset) {
  for (const Branch& branch : image_->payload.program.branches) {
    extents_.resize(std::max(extents_.size(), branch.outputs.size()));
  }
  Load();
}

void DeviceProgram::Load() {
  auto program = device_->Load(image_);
  variables_.Load(*program);
  program_ = std::move(program);
}

const DeviceFailure* DeviceProgram::lasting_failure() const {
  if (!failure_ || (auto_reset_ && failure_->HealedByReset())) return nullptr;
  return &*failure_;
}

const DeviceFailure* DeviceProgram::Run(std::size_t branch, std::span<const void* const> inputs,
                                        std::span<void* const> outputs) {
  if (lasting_failure() != nullptr) return &*failure_;
  try {
    if (failure_) {
      program_.reset();
      device_->Reset();
      Load();
      failure_.reset();
    }
    program_->Run(branch, inputs, outputs, extents_);
    return nullptr;
  } catch (...) {
    failure_ = DeviceFailure::Current();
  }
  return &*failure_;
}

void DeviceProgram::LoadVariables() {
  if (const DeviceFailure* failure = lasting_failure()) failure->Throw();
  if (failure_) return;  // the next run loads them
  variables_.Load(*program_);
}

}  // namespace model_runtime
