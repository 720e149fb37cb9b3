#include "runtime/device/model_device.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/device/bound_steps.hpp"
#include "runtime/device/buffered_branch.hpp"
#include "runtime/device/lent_streams.hpp"
#include "runtime/device/memory_advice.hpp"
#include "runtime/device/streaming_copy.hpp"
#include "runtime/kernels/computing_thread.hpp"
#include "runtime/kernels/thread_pool.hpp"

namespace poprt::device {
namespace {

using program::Branch;
using program::Program;
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

/// Inputs of so many bytes, which are loaded while another batch computes, would take more of the
/// caches from that batch than they have left when their own turn comes.
constexpr std::size_t kLargeInputs = std::size_t{16} << 20;

struct BoundBranch {
  std::vector<BoundStream> inputs;
  bool bypasses_caches = false;  ///< when they are loaded
  std::vector<BoundStream> outputs;
  std::vector<Copy> before;         ///< what steps need elsewhere than it is loaded
  std::vector<BoundSteps> stages;   ///< of the pipeline; the last may be missing
  std::vector<Copy> after;          ///< what arises elsewhere than it is stored from
  std::optional<LentStreams> lent;  ///< if streams lie in no buffers
};

/// How many batches are under way at the same time, if they do not wait for each other.
std::size_t NumBuffers(const Program& program) {
  const std::size_t transfers = program.io_tiles > 0 ? 2 : 1;
  const std::size_t stages = program.NumStages();
  return stages == 1 ? transfers : stages + transfers;
}

/// So that threads which work in different parts share no cache lines, not even by prefetching.
std::uint64_t RoundToPages(std::uint64_t bytes) {
  constexpr std::uint64_t kPage = 4096;
  return (bytes + kPage - 1) / kPage * kPage;
}

/// Where everything is in the memory that programs write. Buffers of a pipeline have an arena each,
/// in which a batch stays from stage to stage. Without one there is a single arena: steps compute
/// for one batch at a time, and what buffers there are hold the streams.
class Layout {
 public:
  explicit Layout(const Program& program)
      : end_(RoundToPages(program.ArenaBytes())),
        num_arenas_(program.NumStages() == 1 ? 1 : NumBuffers(program)) {
    if (program.NumStages() > 1 || NumBuffers(program) == 1) return;
    std::uint64_t input_bytes = 0;
    std::uint64_t output_bytes = 0;
    for (const Branch& branch : program.branches) {
      const StreamBuffers& streams = streams_.emplace_back(branch);
      input_bytes = std::max(input_bytes, streams.input_bytes());
      output_bytes = std::max(output_bytes, streams.output_bytes());
    }
    for (Buffer& buffer : buffers_) {
      buffer = {.inputs = end_, .outputs = end_ + RoundToPages(input_bytes)};
      end_ = buffer.outputs + RoundToPages(output_bytes);
    }
  }

  std::vector<std::unique_ptr<Memory>> MakeArenas() const {
    std::vector<std::unique_ptr<Memory>> arenas;
    for (std::size_t i = 0; i < num_arenas_; ++i) arenas.push_back(std::make_unique<Memory>(end_));
    return arenas;
  }

  /// The branch as it runs with its streams in a buffer, if there are such.
  std::optional<BufferedBranch> Place(std::size_t branch, std::size_t buffer) const {
    if (streams_.empty()) return std::nullopt;
    return streams_[branch].Place(buffers_[buffer].inputs, buffers_[buffer].outputs);
  }

 private:
  struct Buffer {
    std::uint64_t inputs = 0;
    std::uint64_t outputs = 0;
  };

  std::vector<StreamBuffers> streams_;  ///< of each branch, if streams lie in buffers
  std::array<Buffer, 2> buffers_;
  std::uint64_t end_;
  std::size_t num_arenas_;
};

class ModelProgram final : public LoadedProgram {
 public:
  explicit ModelProgram(const std::shared_ptr<const Image>& image)
      : ModelProgram(image, Layout(image->payload.program)) {}

  std::size_t num_stages() const override { return scratch_.size(); }
  std::size_t num_stream_buffers() const override { return buffers_.size(); }

  void Load(std::size_t buffer, std::size_t index, std::span<const void* const> inputs) override {
    const BoundBranch& branch = buffers_[buffer].branches[index];
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const BoundStream& stream = branch.inputs[i];
      if (inputs[i] == nullptr) continue;
      if (branch.bypasses_caches) {
        StreamingCopy(stream.memory, inputs[i], stream.bytes);
      } else if (stream.bytes > 0) {
        std::memcpy(stream.memory, inputs[i], stream.bytes);
      }
    }
  }

  void Compute(std::size_t buffer, std::size_t index, std::size_t stage,
               StepObserver* observer) override {
    if (num_unloaded_ > 0) RefuseToRun();
    const kernels::ComputingThread computing;
    const BoundBranch& branch = buffers_[buffer].branches[index];
    if (stage == 0) CopyAll(branch.before);
    if (stage < branch.stages.size()) RunStage(branch.stages[stage], stage, observer);
    if (stage + 1 < num_stages()) return;
    CopyAll(branch.after);
    // What they are read from may be overwritten before the outputs are stored.
    std::vector<std::int64_t>& extents = buffers_[buffer].extents;
    for (std::size_t i = 0; i < branch.outputs.size(); ++i) {
      const BoundStream& stream = branch.outputs[i];
      if (stream.count.memory != nullptr) extents[i] = stream.TrueExtent();
    }
  }

  void Store(std::size_t buffer, std::size_t index, std::span<void* const> outputs,
             std::span<std::int64_t> extents) override {
    const BoundBranch& branch = buffers_[buffer].branches[index];
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const BoundStream& stream = branch.outputs[i];
      if (stream.count.memory != nullptr) extents[i] = buffers_[buffer].extents[i];
      if (outputs[i] != nullptr) stream.CopyOut(outputs[i], extents[i]);
    }
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
  struct Buffer {
    std::vector<BoundBranch> branches;
    std::vector<std::int64_t> extents;  ///< for every output of the branch that has most
  };

  void RunWith(StepObserver* observer, std::size_t index, std::span<const void* const> inputs,
               std::span<void* const> outputs, std::span<std::int64_t> extents) override {
    std::optional<LentStreams>& lent = buffers_[0].branches[index].lent;
    if (!lent) return LoadedProgram::RunWith(observer, index, inputs, outputs, extents);
    const LentStreams::Loan loan = lent->Lend(inputs, outputs);
    LoadedProgram::RunWith(observer, index, loan.inputs(), loan.outputs(), extents);
  }

  ModelProgram(std::shared_ptr<const Image> image, const Layout& layout)
      : image_(std::move(image)),
        arenas_(layout.MakeArenas()),
        variables_(image_->payload.program.VariableBytes()),
        is_loaded_(image_->payload.program.variables.size(), false),
        num_unloaded_(is_loaded_.size()),
        buffers_(NumBuffers(image_->payload.program)) {
    const auto weights = image_->payload.weights;
    AdviseMemory(weights.data(), weights.size(), MemoryUse::kRead);
    std::vector<std::size_t> scratch_bytes(image_->payload.program.NumStages(), 0);
    const std::vector<Branch>& branches = image_->payload.program.branches;
    for (std::size_t b = 0; b < buffers_.size(); ++b) {
      for (std::size_t i = 0; i < branches.size(); ++i) {
        BoundBranch bound = Bind(branches[i], WorkspaceOf(b), layout.Place(i, b));
        for (std::size_t s = 0; s < bound.stages.size(); ++s) {
          scratch_bytes[s] = std::max(scratch_bytes[s], ScratchBytes(bound.stages[s]));
        }
        buffers_[b].branches.push_back(std::move(bound));
        buffers_[b].extents.resize(
            std::max(buffers_[b].extents.size(), branches[i].outputs.size()));
      }
    }
    // As late as can be: in a process with several threads all that is above takes longer.
    pool_ = &kernels::ProcessThreadPool();
    for (const std::size_t bytes : scratch_bytes) {
      std::size_t all = 0;
      if (__builtin_mul_overflow(bytes, pool_->size(), &all)) all = SIZE_MAX;
      scratch_.push_back(std::make_unique<Memory>(all));
    }
  }

  void RunStage(const BoundSteps& steps, std::size_t stage, StepObserver* observer) {
    if (observer == nullptr) {
      RunSteps(steps, scratch_[stage]->data(), *pool_);
    } else {
      RunSteps(steps, scratch_[stage]->data(), *pool_, *observer);
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

  Workspace WorkspaceOf(std::size_t buffer) const {
    return {.arena = arenas_[arenas_.size() == 1 ? 0 : buffer]->data(),
            .weights = image_->payload.weights.data(),
            .variables = variables_.data()};
  }

  static BoundStream BindStream(const Branch& branch, const Stream& stream,
                                const Workspace& workspace) {
    const Slot& slot = branch.slots[stream.slot];
    BoundStream bound{.memory = AddressOf(slot, workspace), .bytes = slot.type.bytes()};
    if (!stream.extent) return bound;
    const Slot& count = branch.slots[stream.extent->slot];
    const Shape& shape = slot.type.shape;
    const auto axis = shape.begin() + stream.extent->axis;
    bound.count = {.memory = AddressOf(count, workspace), .element = count.type.element};
    bound.bound = *axis;
    if (bound.bytes == 0) return bound;  // products of some extents alone may be anything
    bound.rows = static_cast<std::size_t>(ElementCount({shape.begin(), axis}));
    bound.piece_bytes = TensorType{slot.type.element, {axis + 1, shape.end()}}.bytes();
    return bound;
  }

  static BoundBranch Bind(const Branch& source, const Workspace& workspace,
                          const std::optional<BufferedBranch>& buffered) {
    const Branch& branch = buffered ? buffered->branch : source;
    BoundBranch bound;
    for (const Stream& stream : branch.inputs) {
      bound.inputs.push_back(BindStream(branch, stream, workspace));
    }
    for (const Stream& stream : branch.outputs) {
      bound.outputs.push_back(BindStream(branch, stream, workspace));
    }
    bound.stages = BindStages(branch, source.steps, workspace);
    if (!buffered) {
      bound.lent.emplace(branch, bound.stages);
      return bound;
    }
    std::size_t input_bytes = 0;
    for (const BoundStream& stream : bound.inputs) input_bytes += stream.bytes;
    bound.bypasses_caches = input_bytes >= kLargeInputs;
    const auto add = [&](const SlotCopy& copy, std::vector<Copy>& copies) {
      const std::size_t bytes = branch.slots[copy.to].type.bytes();
      if (bytes == 0) return;
      copies.push_back({.to = AddressOf(branch.slots[copy.to], workspace),
                        .from = AddressOf(branch.slots[copy.from], workspace),
                        .bytes = bytes});
    };
    for (const SlotCopy& copy : buffered->before) add(copy, bound.before);
    for (const SlotCopy& copy : buffered->after) add(copy, bound.after);
    return bound;
  }

  std::shared_ptr<const Image> image_;
  std::vector<std::unique_ptr<Memory>> arenas_;
  Memory variables_;
  std::vector<bool> is_loaded_;
  std::size_t num_unloaded_;
  kernels::ThreadPool* pool_ = nullptr;
  std::vector<std::unique_ptr<Memory>> scratch_;  ///< of each stage
  std::vector<Buffer> buffers_;                   ///< of batches
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
