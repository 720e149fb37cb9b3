#include "runtime/device/model_device.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "runtime/kernels/kernel.hpp"

namespace poprt::device {
namespace {

using kernels::BoundKernel;
using program::Branch;
using program::Slot;
using program::SlotIndex;
using program::Step;
using program::Stream;

/// Zeroed anonymous memory whose pages cost nothing until they are touched.
class Memory {
 public:
  explicit Memory(std::size_t bytes) : bytes_(std::max<std::size_t>(bytes, 1)) {
    data_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data_ == MAP_FAILED) {
      throw DeviceError("cannot reserve " + std::to_string(bytes_) + " bytes of device memory");
    }
  }
  ~Memory() { munmap(data_, bytes_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  std::byte* data() const { return static_cast<std::byte*>(data_); }

 private:
  std::size_t bytes_;
  void* data_;
};

struct BoundStep {
  BoundKernel kernel;
  std::vector<const std::byte*> inputs;
  std::vector<std::byte*> outputs;
};

struct BoundStream {
  std::byte* memory = nullptr;
  std::size_t bytes = 0;
};

struct BoundBranch {
  std::vector<BoundStream> inputs;
  std::vector<BoundStream> outputs;
  std::vector<BoundStep> steps;
};

kernels::KernelCall CallOf(const Branch& branch, const Step& step) {
  const auto types = [&](const std::vector<SlotIndex>& slots) {
    std::vector<TensorType> result;
    for (SlotIndex i : slots) {
      result.push_back(i == program::kNoSlot ? TensorType{} : branch.slots[i].type);
    }
    return result;
  };
  return {
      .inputs = types(step.inputs), .outputs = types(step.outputs), .attributes = step.attributes};
}

BoundKernel BindKernel(const Branch& branch, const Step& step) {
  const std::string where = "branch '" + branch.name + "', step '" + step.name + "': ";
  const kernels::KernelDef* def = kernels::FindKernel(step.kernel);
  if (def == nullptr) {
    throw DeviceError(where + "this runtime has no kernel '" + step.kernel +
                      "': use the runtime that belongs to the compiler");
  }
  try {
    return def->bind(CallOf(branch, step));
  } catch (const std::exception& error) {
    throw DeviceError(where + "kernel '" + step.kernel + "' " + error.what());
  }
}

class ModelProgram : public LoadedProgram {
 public:
  explicit ModelProgram(std::shared_ptr<const Image> image)
      : image_(std::move(image)),
        pool_(kernels::ProcessThreadPool()),
        arena_(image_->payload.program.ArenaBytes()) {
    std::size_t scratch_bytes = 0;
    for (const Branch& branch : image_->payload.program.branches) {
      branches_.push_back(Bind(branch));
      for (const BoundStep& step : branches_.back().steps) {
        scratch_bytes = std::max(scratch_bytes, step.kernel.scratch_bytes);
      }
    }
    scratch_ = std::make_unique<Memory>(scratch_bytes * static_cast<std::size_t>(pool_.size()));
  }

  void Run(std::size_t index, std::span<const void* const> inputs,
           std::span<void* const> outputs) override {
    const BoundBranch& branch = branches_[index];
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const BoundStream& stream = branch.inputs[i];
      if (stream.bytes > 0) std::memcpy(stream.memory, inputs[i], stream.bytes);
    }
    for (const BoundStep& step : branch.steps) {
      step.kernel.run({.inputs = step.inputs,
                       .outputs = step.outputs,
                       .scratch = scratch_->data(),
                       .pool = &pool_});
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const BoundStream& stream = branch.outputs[i];
      if (stream.bytes > 0 && outputs[i] != nullptr) {
        std::memcpy(outputs[i], stream.memory, stream.bytes);
      }
    }
  }

 private:
  /// Where the slot lies. Steps never write to weights (FindProblem), so dropping const is safe.
  std::byte* Address(const Slot& slot) const {
    std::byte* base = slot.space == program::Space::kArena
                          ? arena_.data()
                          : const_cast<std::byte*>(image_->payload.weights.data());
    return base + slot.offset;
  }

  BoundStream BindStream(const Branch& branch, const Stream& stream) const {
    const Slot& slot = branch.slots[stream.slot];
    return {.memory = Address(slot), .bytes = slot.type.bytes()};
  }

  BoundBranch Bind(const Branch& branch) const {
    BoundBranch bound;
    for (const Stream& stream : branch.inputs) bound.inputs.push_back(BindStream(branch, stream));
    for (const Stream& stream : branch.outputs) bound.outputs.push_back(BindStream(branch, stream));
    for (const Step& step : branch.steps) {
      BoundStep bound_step{.kernel = BindKernel(branch, step), .inputs = {}, .outputs = {}};
      const auto address = [&](SlotIndex i) {
        return i == program::kNoSlot ? nullptr : Address(branch.slots[i]);
      };
      for (SlotIndex i : step.inputs) bound_step.inputs.push_back(address(i));
      for (SlotIndex i : step.outputs) bound_step.outputs.push_back(address(i));
      bound.steps.push_back(std::move(bound_step));
    }
    return bound;
  }

  std::shared_ptr<const Image> image_;
  kernels::ThreadPool& pool_;
  Memory arena_;
  std::unique_ptr<Memory> scratch_;
  std::vector<BoundBranch> branches_;
};

class ModelDevice : public Device {
 public:
  explicit ModelDevice(int id) : id_(id) {}

  int id() const override { return id_; }
  std::string ipu_version() const override { return ""; }
  std::unique_ptr<LoadedProgram> Load(std::shared_ptr<const Image> image) override {
    return std::make_unique<ModelProgram>(std::move(image));
  }

 private:
  int id_;
};

}  // namespace

std::unique_ptr<Device> MakeModelDevice(int id) { return std::make_unique<ModelDevice>(id); }

}  // namespace poprt::device
