#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "model_runtime/model/shared_variables.hpp"
#include "model_runtime/serving/device_failure.hpp"
#include "runtime/device/device.hpp"

namespace model_runtime {

/// One run of a branch: pointers in the order of its streams, as LoadedProgram has them.
struct Batch {
  std::size_t branch = 0;
  std::span<const void* const> inputs;
  std::span<void* const> outputs;
  std::span<std::int64_t> extents;
};

/// A program on a device of its own, which is reset when it has faulted and that may heal it. Not
/// thread-safe; the variables are.
class DeviceProgram {
 public:
  /// Loads the program and its variables. `variables` must outlive this object.
  DeviceProgram(std::shared_ptr<const poprt::device::Image> image,
                std::shared_ptr<poprt::device::Device> device, const SharedVariables& variables,
                bool auto_reset);

  /// Runs a batch as LoadedProgram::Run does. Null after success; a failure stays valid until the
  /// next call. After a failure that a reset heals, and with auto_reset, the next run resets the
  /// device and loads everything again; after any other each run fails the same way at once.
  const DeviceFailure* Run(const Batch& batch);

  /// Run in parts, for batches that overlap. Prepare comes before Compute of the first stage; it
  /// returns the failure of a run that cannot begin, or null. Where Compute throws, Fail is called
  /// in the handler; it returns what the run died of: that, or the failure that lasts already.
  const DeviceFailure* Prepare();
  const DeviceFailure& Fail() noexcept;

  /// Nothing has failed: there is a program that can load inputs.
  bool is_ready() const { return !failure_; }
  /// Prepare will reset the device: nobody may use the program then.
  bool must_reset() const { return failure_ && lasting_failure() == nullptr; }
  /// Changes with the program, which takes what was loaded into its buffers with it.
  std::uint64_t generation() const { return generation_; }
  /// While is_ready(), and until a call that resets.
  poprt::device::LoadedProgram& loaded() { return *program_; }

  /// The failure of each run to come; null while there is hope.
  const DeviceFailure* lasting_failure() const;

  /// Runs the load program again. Throws Error.
  void LoadVariables();

 private:
  void Load();

  std::shared_ptr<const poprt::device::Image> image_;
  std::shared_ptr<poprt::device::Device> device_;
  const SharedVariables& variables_;
  bool auto_reset_;
  std::unique_ptr<poprt::device::LoadedProgram> program_;  ///< null when it must be loaded again
  std::uint64_t generation_ = 0;
  std::optional<DeviceFailure> failure_;
};

}  // namespace model_runtime
