#include "runtime/device/model_device.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "runtime/device/bound_steps.hpp"
#include "runtime/device/memory_advice.hpp"
#include "runtime/kernels/thread_pool.hpp"

namespace poprt::device {
namespace {

using program::Branch;
using program::Slot;
using program::Stream;
using program::Variable;

/// Zeroed anonymous memory whose pages cost nothing until they are touched.
class Memory {
 public:
  explicit Memory(std::size_t bytes) : bytes_(std::max<std::size_t>(bytes, 1)) {
    data_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data_ == MAP_FAILED) {
      throw DeviceError("cannot reserve " + std::to_string(bytes_) + " bytes of device memory");
    }
    AdviseMemory(data_, bytes_, MemoryUse::kWrite);
  }
  ~Memory() { munmap(data_, bytes_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  std::byte* data() const { return static_cast<std::byte*>(data_); }

 private:
  std::size_t bytes_;
  void* data_;
};

/// A scalar of the arena or the weights that says how much of a tensor there is.
struct BoundCount {
  const std::byte* memory = nullptr;  ///< null if all of it is there
  ElementType element = ElementType::kUndefined;
};

struct BoundStream {
  std::byte* memory = nullptr;
  std::size_t bytes = 0;
  BoundCount count = {};
  /// Of a stream with a count: the tensor as rows, of each of which as many pieces as the count
  /// says are there.
  std::size_t rows = 1;
  std::size_t piece_bytes = 0;
  std::int64_t bound = 0;

  /// What the count says, if that can be.
  std::int64_t TrueExtent() const {
    std::int64_t found = 0;
    if (count.element == ElementType::kInt32) {
      found = *reinterpret_cast<const std::int32_t*>(count.memory);
    } else {
      found = *reinterpret_cast<const std::int64_t*>(count.memory);
    }
    return std::clamp<std::int64_t>(found, 0, bound);
  }

  void CopyOut(void* target, std::int64_t extent) const {
    if (bytes == 0) return;
    if (count.memory == nullptr || extent == bound) {
      std::memcpy(target, memory, bytes);
      return;
    }
    const std::size_t row_bytes = piece_bytes * static_cast<std::size_t>(bound);
    const std::size_t true_bytes = piece_bytes * static_cast<std::size_t>(extent);
    for (std::size_t row = 0; true_bytes > 0 && row < rows; ++row) {
      std::memcpy(static_cast<std::byte*>(target) + row * true_bytes, memory + row * row_bytes,
                  true_bytes);
    }
  }
};

struct BoundBranch {
  std::vector<BoundStream> inputs;
  std::vector<BoundStream> outputs;
  BoundSteps steps;
};

class ModelProgram : public LoadedProgram {
 public:
  explicit ModelProgram(std::shared_ptr<const Image> image)
      : image_(std::move(image)),
        pool_(kernels::ProcessThreadPool()),
        arena_(image_->payload.program.ArenaBytes()),
        variables_(image_->payload.program.VariableBytes()),
        is_loaded_(image_->payload.program.variables.size(), false),
        num_unloaded_(is_loaded_.size()) {
    const auto weights = image_->payload.weights;
    AdviseMemory(weights.data(), weights.size(), MemoryUse::kRead);
    std::size_t scratch_bytes = 0;
    for (const Branch& branch : image_->payload.program.branches) {
      branches_.push_back(Bind(branch));
      scratch_bytes = std::max(scratch_bytes, ScratchBytes(branches_.back().steps));
    }
    scratch_ = std::make_unique<Memory>(scratch_bytes * static_cast<std::size_t>(pool_.size()));
  }

  void Run(std::size_t index, std::span<const void* const> inputs, std::span<void* const> outputs,
           std::span<std::int64_t> extents) override {
    const BoundBranch& branch = Enter(index, inputs);
    RunSteps(branch.steps, scratch_->data(), pool_);
    Leave(branch, outputs, extents);
  }

  void RunObserved(std::size_t index, std::span<const void* const> inputs,
                   std::span<void* const> outputs, std::span<std::int64_t> extents,
                   StepObserver& observer) override {
    const BoundBranch& branch = Enter(index, inputs);
    RunSteps(branch.steps, scratch_->data(), pool_, observer);
    Leave(branch, outputs, extents);
  }

  void LoadVariables(std::span<const void* const> sources) override {
    for (std::size_t i = 0; i < sources.size(); ++i) {
      if (sources[i] == nullptr) continue;
      const Variable& variable = Variables()[i];
      const std::size_t bytes = variable.type.bytes();
      if (bytes > 0) std::memcpy(variables_.data() + variable.offset, sources[i], bytes);
      if (!is_loaded_[i]) --num_unloaded_;
      is_loaded_[i] = true;
    }
  }

  void SaveVariables(std::span<void* const> targets) override {
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const Variable& variable = Variables()[i];
      const std::size_t bytes = variable.type.bytes();
      if (targets[i] == nullptr || bytes == 0) continue;
      std::memcpy(targets[i], variables_.data() + variable.offset, bytes);
    }
  }

 private:
  /// The branch, with its inputs copied in.
  const BoundBranch& Enter(std::size_t index, std::span<const void* const> inputs) const {
    if (num_unloaded_ > 0) RefuseToRun();
    const BoundBranch& branch = branches_[index];
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const BoundStream& stream = branch.inputs[i];
      if (stream.bytes > 0) std::memcpy(stream.memory, inputs[i], stream.bytes);
    }
    return branch;
  }

  static void Leave(const BoundBranch& branch, std::span<void* const> outputs,
                    std::span<std::int64_t> extents) {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const BoundStream& stream = branch.outputs[i];
      if (stream.count.memory != nullptr) extents[i] = stream.TrueExtent();
      if (outputs[i] != nullptr) stream.CopyOut(outputs[i], extents[i]);
    }
  }

  const std::vector<Variable>& Variables() const { return image_->payload.program.variables; }

  [[noreturn]] void RefuseToRun() const {
    std::string names;
    for (std::size_t i = 0; i < is_loaded_.size(); ++i) {
      if (!is_loaded_[i]) names += " '" + Variables()[i].name + "'";
    }
    throw DeviceError("the load program has not given a value to the variables" + names);
  }

  Workspace workspace() const {
    return {.arena = arena_.data(),
            .weights = image_->payload.weights.data(),
            .variables = variables_.data()};
  }

  std::byte* Address(const Slot& slot) const { return AddressOf(slot, workspace()); }

  BoundStream BindStream(const Branch& branch, const Stream& stream) const {
    const Slot& slot = branch.slots[stream.slot];
    BoundStream bound{.memory = Address(slot), .bytes = slot.type.bytes()};
    if (!stream.extent) return bound;
    const Slot& count = branch.slots[stream.extent->slot];
    const Shape& shape = slot.type.shape;
    const auto axis = shape.begin() + stream.extent->axis;
    bound.count = {.memory = Address(count), .element = count.type.element};
    bound.bound = *axis;
    if (bound.bytes == 0) return bound;  // products of some extents alone may be anything
    bound.rows = static_cast<std::size_t>(ElementCount({shape.begin(), axis}));
    bound.piece_bytes = TensorType{slot.type.element, {axis + 1, shape.end()}}.bytes();
    return bound;
  }

  BoundBranch Bind(const Branch& branch) const {
    BoundBranch bound;
    for (const Stream& stream : branch.inputs) bound.inputs.push_back(BindStream(branch, stream));
    for (const Stream& stream : branch.outputs) bound.outputs.push_back(BindStream(branch, stream));
    bound.steps = BindSteps(branch, branch.steps, workspace());
    return bound;
  }

  std::shared_ptr<const Image> image_;
  kernels::ThreadPool& pool_;
  Memory arena_;
  Memory variables_;
  std::vector<bool> is_loaded_;
  std::size_t num_unloaded_;
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
