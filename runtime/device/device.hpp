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

/// A program on a device, ready to run. A batch is loaded, computed and stored; with the two stream
/// buffers of a program that has I/O tiles, one batch computes while others are loaded and stored.
/// All stages allocate nothing.
class LoadedProgram {
 public:
  virtual ~LoadedProgram() = default;
  LoadedProgram() = default;
  LoadedProgram(const LoadedProgram&) = delete;
  LoadedProgram& operator=(const LoadedProgram&) = delete;

  /// 2 for programs with I/O tiles, otherwise 1. Each buffer has room for the inputs and, apart
  /// from them, for the outputs of a batch of any branch.
  virtual std::size_t num_stream_buffers() const = 0;

  /// Copies the inputs of a batch into a buffer. `inputs` is user memory in the order of the
  /// branch's streams, of the exact size of their slots and any alignment, and read only during the
  /// call. With one buffer nothing else may go on in the program; with two, whatever uses the other
  /// buffer, and Store of this one.
  virtual void Load(std::size_t buffer, std::size_t branch,
                    std::span<const void* const> inputs) = 0;

  /// Computes the outputs of a buffer from its inputs. One thread at a time, and none that has to
  /// do with this buffer. `observer`, if there is one, is told of every step: for tools that show
  /// where time goes.
  virtual void Compute(std::size_t buffer, std::size_t branch, StepObserver* observer) = 0;

  /// Copies the outputs of a buffer to user memory, which is written only during the call. An
  /// output that is null is not copied. `extents` has an element for each output; it receives the
  /// true extent of those with Stream::extent, of which only the true part is written. May go on
  /// while others load, and while they compute with the other buffer.
  virtual void Store(std::size_t buffer, std::size_t branch, std::span<void* const> outputs,
                     std::span<std::int64_t> extents) = 0;

  /// All three, one after the other. Not to be called by two threads at once.
  virtual void Run(std::size_t branch, std::span<const void* const> inputs,
                   std::span<void* const> outputs, std::span<std::int64_t> extents) = 0;
  void RunObserved(std::size_t branch, std::span<const void* const> inputs,
                   std::span<void* const> outputs, std::span<std::int64_t> extents,
                   StepObserver& observer) {
    Load(0, branch, inputs);
    Compute(0, branch, &observer);
    Store(0, branch, outputs, extents);
  }

  /// The load program: copies user memory of any alignment into the variables. `sources` has an
  /// element for each of Program::variables, of its exact size; null keeps what the device has.
  /// Compute throws DeviceError until every variable has been loaded. Not to be called while
  /// another thread computes.
  virtual void LoadVariables(std::span<const void* const> sources) = 0;
  /// The save program: the way back. Null leaves a variable out.
  virtual void SaveVariables(std::span<void* const> targets) = 0;
};

/// One IPU. Thread-safe. Whoever holds the shared pointer that DeviceRegistry gave out has the
/// device for itself; it is free again when the last copy goes.
class Device {
 public:
  virtual ~Device() = default;
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  virtual int id() const = 0;
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
