#include "runtime/device/faulty_device.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <utility>

#include "runtime/device/model_device.hpp"

namespace poprt::device {
namespace {

constexpr const char* kVariable = "POPRT_DEVICE_FAULTS";

[[noreturn]] void Refuse(std::string_view entry, const std::string& problem) {
  throw DeviceError("planned fault '" + std::string(entry) + "': " + problem +
                    "; write [DEVICE@]RUN[*]:CLASS[/ACTION], e.g. 3:application_runtime_error or "
                    "0@10:recoverable_runtime_error/IPU_RESET");
}

template <typename Number>
Number ParseNumber(std::string_view entry, std::string_view text, Number least, const char* what) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least) {
    Refuse(entry, std::string(what) + " is '" + std::string(text) + "', allowed is a number from " +
                      std::to_string(least));
  }
  return number;
}

/// The part of `text` before `separator`, which is removed together with it; nothing if there is
/// none.
std::optional<std::string_view> TakeUntil(std::string_view& text, char separator) {
  const std::size_t at = text.find(separator);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(at + 1);
  return taken;
}

FaultKind ParseKind(std::string_view entry, std::string_view name) {
  std::string allowed;
  for (const FaultKind kind :
       {FaultKind::kApplication, FaultKind::kRecoverable, FaultKind::kUnknown, FaultKind::kOther}) {
    if (NameOf(kind) == name) return kind;
    allowed += (allowed.empty() ? "" : ", ") + std::string(NameOf(kind));
  }
  Refuse(entry, "class '" + std::string(name) + "' does not exist, there are " + allowed);
}

FaultAction ParseAction(std::string_view entry, std::string_view name) {
  std::string allowed;
  for (const FaultAction action :
       {FaultAction::kIpuReset, FaultAction::kPartitionReset, FaultAction::kFullReset}) {
    if (NameOf(action) == name) return action;
    allowed += (allowed.empty() ? "" : ", ") + std::string(NameOf(action));
  }
  Refuse(entry, "action '" + std::string(name) + "' does not exist, there are " + allowed);
}

PlannedFault ParseFault(std::string_view entry) {
  PlannedFault fault;
  std::string_view rest = entry;
  auto run = TakeUntil(rest, ':');
  if (!run) Refuse(entry, "there is no ':' before the class");
  if (const auto device = TakeUntil(*run, '@')) {
    fault.device = ParseNumber<int>(entry, *device, 0, "the device");
  }
  fault.repeats = run->ends_with('*');
  if (fault.repeats) run->remove_suffix(1);
  fault.run = ParseNumber<std::uint64_t>(entry, *run, 1, "the run");
  const auto kind = TakeUntil(rest, '/');
  fault.kind = ParseKind(entry, kind ? *kind : rest);
  if (kind.has_value() != (fault.kind == FaultKind::kRecoverable)) {
    Refuse(entry, "recoverable_runtime_error has an action, no other class has");
  }
  if (kind) fault.action = ParseAction(entry, rest);
  return fault;
}

/// A device's faults, past and to come. Thread-safe.
class FaultState {
 public:
  FaultState(int device, std::vector<PlannedFault> plan)
      : device_(device), plan_(std::move(plan)) {}

  /// Throws the fault that this run has. `loaded` is the generation of the program.
  void BeginRun(std::uint64_t loaded) {
    const std::lock_guard lock(mutex_);
    if (fault_) Throw();
    if (loaded != generation_) {
      throw DeviceError("device " + std::to_string(device_) + " was reset: load the program again");
    }
    ++runs_;
    for (const PlannedFault& fault : plan_) {
      if (fault.repeats ? runs_ % fault.run != 0 : runs_ != fault.run) continue;
      fault_ = fault;
      faulted_run_ = runs_;
      Throw();
    }
  }

  void Reset() {
    const std::lock_guard lock(mutex_);
    fault_.reset();
    ++generation_;
  }

  std::uint64_t generation() const {
    const std::lock_guard lock(mutex_);
    return generation_;
  }

 private:
  [[noreturn]] void Throw() const {
    throw DeviceFault(fault_->kind, fault_->action,
                      "device " + std::to_string(device_) + " had the planned fault " +
                          std::string(NameOf(fault_->kind)) + " in run " +
                          std::to_string(faulted_run_));
  }

  const int device_;
  const std::vector<PlannedFault> plan_;
  mutable std::mutex mutex_;
  std::uint64_t runs_ = 0;
  std::uint64_t generation_ = 0;
  std::optional<PlannedFault> fault_;
  std::uint64_t faulted_run_ = 0;
};

class FaultyProgram : public LoadedProgram {
 public:
  FaultyProgram(std::unique_ptr<LoadedProgram> program, std::shared_ptr<FaultState> state)
      : program_(std::move(program)), state_(std::move(state)), loaded_(state_->generation()) {}

  std::size_t num_stages() const override { return program_->num_stages(); }
  std::size_t num_stream_buffers() const override { return program_->num_stream_buffers(); }
  void Load(std::size_t buffer, std::size_t branch, std::span<const void* const> inputs) override {
    program_->Load(buffer, branch, inputs);
  }
  void Compute(std::size_t buffer, std::size_t branch, std::size_t stage,
               StepObserver* observer) override {
    if (stage == 0) state_->BeginRun(loaded_);  // runs that have begun go on
    program_->Compute(buffer, branch, stage, observer);
  }
  void Store(std::size_t buffer, std::size_t branch, std::span<void* const> outputs,
             std::span<std::int64_t> extents) override {
    program_->Store(buffer, branch, outputs, extents);
  }
  void LoadVariables(std::span<const void* const> sources) override {
    program_->LoadVariables(sources);
  }
  void SaveVariables(std::span<void* const> targets) override { program_->SaveVariables(targets); }

 private:
  std::unique_ptr<LoadedProgram> program_;
  std::shared_ptr<FaultState> state_;
  std::uint64_t loaded_;
};

class FaultyDevice : public Device {
 public:
  FaultyDevice(std::unique_ptr<Device> device, std::vector<PlannedFault> plan)
      : device_(std::move(device)),
        state_(std::make_shared<FaultState>(device_->id(), std::move(plan))) {}

  int id() const override { return device_->id(); }
  std::string ipu_version() const override { return device_->ipu_version(); }
  std::unique_ptr<LoadedProgram> Load(std::shared_ptr<const Image> image) override {
    return std::make_unique<FaultyProgram>(device_->Load(std::move(image)), state_);
  }
  void Reset() override {
    device_->Reset();
    state_->Reset();
  }

 private:
  std::unique_ptr<Device> device_;
  std::shared_ptr<FaultState> state_;
};

using Plan = std::vector<PlannedFault>;

/// The plan of this process, if it has one. Read without a lock, which a child of fork() could find
/// locked for ever; plans stay in memory for whoever still reads them.
std::atomic<const Plan*> process_plan{nullptr};

Plan CurrentPlan() {
  if (const Plan* plan = process_plan.load()) return *plan;
  const char* text = std::getenv(kVariable);
  if (text == nullptr) return {};
  try {
    return ParseFaults(text);
  } catch (const DeviceError& error) {
    throw DeviceError(std::string(kVariable) + ": " + error.what());
  }
}

}  // namespace

std::vector<PlannedFault> ParseFaults(std::string_view text) {
  std::vector<PlannedFault> faults;
  if (text.empty()) return faults;
  while (const auto entry = TakeUntil(text, ',')) faults.push_back(ParseFault(*entry));
  faults.push_back(ParseFault(text));
  return faults;
}

void PlanDeviceFaults(const std::optional<std::string>& text) {
  static std::mutex mutex;
  static auto* const plans = new std::vector<std::unique_ptr<const Plan>>;
  auto plan = text ? std::make_unique<const Plan>(ParseFaults(*text)) : nullptr;
  const std::lock_guard lock(mutex);
  process_plan = plan.get();
  plans->push_back(std::move(plan));
}

std::unique_ptr<Device> MakeFaultyDevice(std::unique_ptr<Device> device,
                                         std::vector<PlannedFault> plan) {
  return std::make_unique<FaultyDevice>(std::move(device), std::move(plan));
}

std::unique_ptr<Device> MakeDevice(int id) {
  std::vector<PlannedFault> plan = CurrentPlan();
  std::erase_if(plan, [id](const PlannedFault& fault) { return fault.device.value_or(id) != id; });
  std::unique_ptr<Device> device = MakeModelDevice(id);
  return plan.empty() ? std::move(device) : MakeFaultyDevice(std::move(device), std::move(plan));
}

}  // namespace poprt::device
