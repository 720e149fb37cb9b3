#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model_runtime/model/shared_variables.hpp"
#include "model_runtime/serving/device_failure.hpp"
#include "runtime/device/device.hpp"

namespace model_runtime {

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
  const DeviceFailure* Run(std::size_t branch, std::span<const void* const> inputs,
                           std::span<void* const> outputs);

  /// Of the outputs of the last run, where Stream::extent is set.
  std::span<const std::int64_t> extents() const { return extents_; }

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
  std::vector<std::int64_t> extents_;  ///< for every output of the branch that has most
  std::optional<DeviceFailure> failure_;
};

}  // namespace model_runtime
