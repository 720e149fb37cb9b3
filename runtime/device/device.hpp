#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>

#include "runtime/device/step_observer.hpp"
#include "runtime/program/executable_payload.hpp"

/// What the runtime needs of an accelerator. Nothing outside runtime/device knows which one runs.
namespace poprt::device {

/// A program cannot be loaded or a device cannot be had; says which and why.
class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A verified executable and the memory it lies in, e.g. a mapped file.
struct Image {
  std::shared_ptr<const void> owner;
  program::Payload payload;
};

/// A program on a device, ready to run. A batch is loaded into a stream buffer, computed stage by
/// stage and stored. With several buffers batches are under way at the same time, each in its
/// buffer: while one is computed others are loaded and stored, and the stages of a pipeline compute
/// different ones. None of this allocates.
class LoadedProgram {
 public:
  virtual ~LoadedProgram() = default;
  LoadedProgram() = default;
  LoadedProgram(const LoadedProgram&) = delete;
  LoadedProgram& operator=(const LoadedProgram&) = delete;

  /// Of the pipeline, at least 1: program::Program::NumStages.
  virtual std::size_t num_stages() const = 0;
  /// 2 for programs of one stage with I/O tiles, 1 for those without. Programs of several stages
  /// have a buffer for each and one more, which is loaded or stored meanwhile, with I/O tiles two.
  /// A buffer has room for a batch of any branch.
  virtual std::size_t num_stream_buffers() const = 0;
  /// Whether a buffer holds inputs and outputs apart from each other, so that the next batch may be
  /// loaded into it once the last is computed, before that is stored. So it is with two buffers;
  /// otherwise a batch has the buffer for itself until it is stored.
  bool takes_inputs_before_store() const { return num_stages() == 1 && num_stream_buffers() == 2; }

  /// Copies the inputs of a batch into a buffer. `inputs` is user memory in the order of the
  /// branch's streams, of the exact size of their slots and any alignment, and read only during the
  /// call; null is not copied. With one buffer nothing else may go on in the program; with several,
  /// whatever uses other buffers, and Store of this one if takes_inputs_before_store().
  virtual void Load(std::size_t buffer, std::size_t branch,
                    std::span<const void* const> inputs) = 0;

  /// Computes a stage of the batch in a buffer. Stages have to come one after the other, from 0 to
  /// the last; the last leaves the outputs. One thread at a time for each stage, and none that has
  /// to do with this buffer. `observer`, if there is one, is told of every step: for tools that
  /// show where time goes.
  virtual void Compute(std::size_t buffer, std::size_t branch, std::size_t stage,
                       StepObserver* observer) = 0;

  /// Copies the outputs of a buffer to user memory, which is written only during the call. An
  /// output that is null is not copied. `extents` has an element for each output; it receives the
  /// true extent of those with Stream::extent, of which only the true part is written. May go on
  /// while others load, and while they compute with other buffers.
  virtual void Store(std::size_t buffer, std::size_t branch, std::span<void* const> outputs,
                     std::span<std::int64_t> extents) = 0;

  /// All of it, one after the other. Nothing else may go on in the program. Memory of the caller
  /// may be computed with where it lies instead of being copied: inputs must not change meanwhile,
  /// and outputs may be written at any time of the call. They may share memory.
  void Run(std::size_t branch, std::span<const void* const> inputs, std::span<void* const> outputs,
           std::span<std::int64_t> extents) {
    RunWith(nullptr, branch, inputs, outputs, extents);
  }
  void RunObserved(std::size_t branch, std::span<const void* const> inputs,
                   std::span<void* const> outputs, std::span<std::int64_t> extents,
                   StepObserver& observer) {
    RunWith(&observer, branch, inputs, outputs, extents);
  }

  /// The load program: copies user memory of any alignment into the variables. `sources` has an
  /// element for each of Program::variables, of its exact size; null keeps what the device has.
  /// Compute throws DeviceError until every variable has been loaded. Not to be called while
  /// another thread computes.
  virtual void LoadVariables(std::span<const void* const> sources) = 0;
  /// The save program: the way back. Null leaves a variable out.
  virtual void SaveVariables(std::span<void* const> targets) = 0;

 protected:
  /// `observer` may be null.
  virtual void RunWith(StepObserver* observer, std::size_t branch,
                       std::span<const void* const> inputs, std::span<void* const> outputs,
                       std::span<std::int64_t> extents) {
    Load(0, branch, inputs);
    for (std::size_t stage = 0; stage < num_stages(); ++stage) {
      Compute(0, branch, stage, observer);
    }
    Store(0, branch, outputs, extents);
  }
};

/// One IPU, or several that are had together (joined_ipus.hpp). Thread-safe. Whoever holds the
/// shared pointer that DeviceRegistry gave out has the device for itself; it is free again when the
/// last copy goes.
class Device {
 public:
  virtual ~Device() = default;
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  virtual int id() const = 0;
  virtual int num_ipus() const { return 1; }
  /// Architecture, e.g. "ipu21"; empty for a device that takes programs of any.
  virtual std::string ipu_version() const = 0;
  /// Binds a program to this device. Throws DeviceError naming branch, step and reason when a
  /// kernel refuses its operands.
  virtual std::unique_ptr<LoadedProgram> Load(std::shared_ptr<const Image> image) = 0;
  /// Ends whatever fault the device has (device_fault.hpp). Programs that are loaded may be gone:
  /// load them again. Not to be called while one of them runs. A device that cannot fault does
  /// nothing.
  virtual void Reset() {}
};

}  // namespace poprt::device
