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

/// A program on a device, ready to run.
class LoadedProgram {
 public:
  virtual ~LoadedProgram() = default;
  LoadedProgram() = default;
  LoadedProgram(const LoadedProgram&) = delete;
  LoadedProgram& operator=(const LoadedProgram&) = delete;

  /// Runs one branch on one batch. `inputs` and `outputs` are user memory in the order of the
  /// branch's streams, of the exact size of their slots and any alignment; they are read and
  /// written only during the call. An output that is null is not copied out. `extents` has an
  /// element for each output; it receives the true extent of those with Stream::extent, of which
  /// only the true part is written. Allocates nothing. Not to be called by two threads at once.
  virtual void Run(std::size_t branch, std::span<const void* const> inputs,
                   std::span<void* const> outputs, std::span<std::int64_t> extents) = 0;

  /// Runs as Run does and tells `observer` of every step: for tools that show where time goes.
  virtual void RunObserved(std::size_t branch, std::span<const void* const> inputs,
                           std::span<void* const> outputs, std::span<std::int64_t> extents,
                           StepObserver& observer) = 0;

  /// The load program: copies user memory of any alignment into the variables. `sources` has an
  /// element for each of Program::variables, of its exact size; null keeps what the device has.
  /// Run throws DeviceError until every variable has been loaded. Not to be called while another
  /// thread is in the program.
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
