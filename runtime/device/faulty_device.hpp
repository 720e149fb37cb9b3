#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/device/device_fault.hpp"

/// Devices that fault when they are told to: how programs and tests see what they do then.
namespace poprt::device {

/// A fault that a device is to have.
struct PlannedFault {
  std::optional<int> device;  ///< nothing: every device
  std::uint64_t run = 0;      ///< the device's n-th run, counted from 1 when it is acquired
  bool repeats = false;       ///< also each multiple of `run`
  FaultKind kind = FaultKind::kApplication;
  FaultAction action = FaultAction::kIpuReset;
};

/// Reads a plan: entries `[DEVICE@]RUN[*]:CLASS[/ACTION]` with commas between them, e.g.
/// "3:application_runtime_error,1@10:recoverable_runtime_error/FULL_RESET,500*:runtime_error".
/// Only recoverable_runtime_error has an action, and must have one. Throws DeviceError naming the
/// entry.
std::vector<PlannedFault> ParseFaults(std::string_view text);

/// Sets the plan of the devices this process makes from now on, in place of the environment
/// variable POPRT_DEVICE_FAULTS; nothing goes back to that. Thread-safe. Throws as ParseFaults.
void PlanDeviceFaults(const std::optional<std::string>& text);

/// `device`, with the faults that `plan` has for it. They come when a run begins to compute; runs
/// of a pipeline that have begun before end as if nothing was. A program that is loaded when the
/// device is reset is gone: its runs throw DeviceError.
std::unique_ptr<Device> MakeFaultyDevice(std::unique_ptr<Device> device,
                                         std::vector<PlannedFault> plan);

/// Device `id` of this machine: a model device, with the faults that are planned for it. Throws
/// DeviceError when POPRT_DEVICE_FAULTS cannot be read.
std::unique_ptr<Device> MakeDevice(int id);

}  // namespace poprt::device
