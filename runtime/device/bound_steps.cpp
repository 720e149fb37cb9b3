#include "runtime/device/bound_steps.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <limits>
#include <span>
#include <utility>

#include "runtime/device/device.hpp"
#include "runtime/program/control_flow.hpp"

namespace poprt::device {
namespace {

using program::Body;
using program::Branch;
using program::SlotIndex;
using program::Step;

kernels::KernelCall CallOf(const Branch& branch, const Step& step) {
  const auto types = [&](const std::vector<SlotIndex>& slots) {
    std::vector<TensorType> result;
    result.reserve(slots.size());
    for (SlotIndex i : slots) {
      result.push_back(i == program::kNoSlot ? TensorType{} : branch.slots[i].type);
    }
    return result;
  };
  return {
      .inputs = types(step.inputs), .outputs = types(step.outputs), .attributes = step.attributes};
}

kernels::BoundKernel BindKernel(const Branch& branch, const Step& step) {
  const auto where = [&] { return "branch '" + branch.name + "', step '" + step.name + "': "; };
  const kernels::KernelDef* def = kernels::FindKernel(step.kernel);
  if (def == nullptr) {
    throw DeviceError(where() + "this runtime has no kernel '" + step.kernel +
                      "': use the runtime that belongs to the compiler");
  }
  try {
    return def->bind(CallOf(branch, step));
  } catch (const std::exception& error) {
    throw DeviceError(where() + "kernel '" + step.kernel + "' " + error.what());
  }
}

/// Kernels of the steps of a branch. Networks repeat themselves: what was bound for another of the
/// last steps serves again.
class KernelBinder {
 public:
  explicit KernelBinder(const Branch& branch) : branch_(branch) {}

  std::shared_ptr<const kernels::BoundKernel> KernelOf(const Step& step) {
    const auto known = std::ranges::find_if(
        known_, [&](const Known& other) { return HaveSameCall(step, *other.step); });
    if (known != known_.end()) return known->kernel;
    if (known_.size() == kMostKnown) known_.pop_back();
    known_.push_front(
        {&step, std::make_shared<const kernels::BoundKernel>(BindKernel(branch_, step))});
    return known_.front().kernel;
  }

 private:
  static constexpr std::size_t kMostKnown = 64;
  struct Known {
    const Step* step;
    std::shared_ptr<const kernels::BoundKernel> kernel;
  };

  bool HaveSameCall(const Step& a, const Step& b) const {
    return a.kernel == b.kernel && HaveSameTypes(a.outputs, b.outputs) &&
           HaveSameTypes(a.inputs, b.inputs) && a.attributes == b.attributes;
  }
  bool HaveSameTypes(const std::vector<SlotIndex>& a, const std::vector<SlotIndex>& b) const {
    return std::ranges::equal(a, b, [this](SlotIndex i, SlotIndex j) {
      if (i == program::kNoSlot || j == program::kNoSlot) return i == j;
      return branch_.slots[i].type == branch_.slots[j].type;
    });
  }

  const Branch& branch_;
  std::deque<Known> known_;
};

class Binder {
 public:
  Binder(const Branch& branch, const Workspace& workspace)
      : branch_(branch), workspace_(workspace), kernels_(branch) {}

  BoundSteps Bind(std::span<const Step> steps, std::span<const Step> sources) {
    BoundSteps bound;
    bound.reserve(steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (steps[i].kernel == program::kIf) {
        bound.emplace_back(BindIf(steps[i], sources[i]));
      } else if (steps[i].kernel == program::kLoop) {
        bound.emplace_back(BindLoop(steps[i], sources[i]));
      } else {
        bound.emplace_back(BindKernelStep(steps[i], sources[i]));
      }
    }
    return bound;
  }

 private:
  std::byte* Address(SlotIndex i) const {
    return i == program::kNoSlot ? nullptr : AddressOf(branch_.slots[i], workspace_);
  }

  template <typename T>
  T* Pointer(SlotIndex i) const {
    return reinterpret_cast<T*>(Address(i));
  }

  KernelStep BindKernelStep(const Step& step, const Step& source) {
    KernelStep bound{
        .source = &source, .kernel = kernels_.KernelOf(step), .inputs = {}, .outputs = {}};
    bound.inputs.reserve(step.inputs.size());
    bound.outputs.reserve(step.outputs.size());
    for (SlotIndex i : step.inputs) bound.inputs.push_back(Address(i));
    for (SlotIndex i : step.outputs) bound.outputs.push_back(Address(i));
    CheckInPlace(step, bound);
    return bound;
  }

  /// A checked program may still compute in place what its kernel cannot.
  void CheckInPlace(const Step& step, const KernelStep& bound) const {
    if (bound.outputs.empty() || bound.outputs[0] == nullptr) return;
    const std::vector<std::size_t>& allowed = bound.kernel->in_place_inputs;
    for (std::size_t i = 0; i < step.inputs.size(); ++i) {
      const bool shares = bound.inputs[i] == bound.outputs[0] &&
                          Overlap(branch_.slots[step.inputs[i]], branch_.slots[step.outputs[0]]);
      if (!shares || std::find(allowed.begin(), allowed.end(), i) != allowed.end()) continue;
      throw DeviceError("branch '" + branch_.name + "', step '" + step.name + "': kernel '" +
                        step.kernel + "' cannot write its output over input " + std::to_string(i));
    }
  }

  /// Nothing where the result is absent, empty or in its place already.
  void AddCopy(SlotIndex to, SlotIndex from, std::vector<Copy>& copies) const {
    if (to == program::kNoSlot || Address(to) == Address(from)) return;
    const std::size_t bytes = branch_.slots[from].type.bytes();
    if (bytes > 0) copies.push_back({.to = Address(to), .from = Address(from), .bytes = bytes});
  }

  std::unique_ptr<IfStep> BindIf(const Step& step, const Step& source) {
    auto bound = std::make_unique<IfStep>();
    bound->source = &source;
    bound->condition = Pointer<const std::uint8_t>(step.inputs[0]);
    for (std::size_t b : {0, 1}) {
      IfStep::Body& body = b == 0 ? bound->taken : bound->other;
      body.steps = Bind(step.bodies[b].steps, source.bodies[b].steps);
      for (std::size_t i = 0; i < step.outputs.size(); ++i) {
        AddCopy(step.outputs[i], step.bodies[b].outputs[i], body.results);
      }
    }
    return bound;
  }

  std::unique_ptr<LoopStep> BindLoop(const Step& step, const Step& source) {
    const Body& body = step.bodies[0];
    const std::size_t carried = step.inputs.size() - program::kLoopControls;
    auto bound = std::make_unique<LoopStep>();
    bound->source = &source;
    bound->trip_count = Pointer<const std::int64_t>(step.inputs[0]);
    bound->starts = Pointer<const std::uint8_t>(step.inputs[1]);
    bound->most_iterations = std::numeric_limits<std::int64_t>::max();
    bound->iteration = Pointer<std::int64_t>(body.inputs[0]);
    bound->condition = Pointer<std::uint8_t>(body.inputs[1]);
    bound->steps = Bind(body.steps, source.bodies[0].steps);
    bound->goes_on = Pointer<const std::uint8_t>(body.outputs[0]);
    for (std::size_t i = 0; i < carried; ++i) {
      AddCopy(step.outputs[i], step.inputs[i + program::kLoopControls], bound->initial);
      AddCopy(step.outputs[i], body.outputs[i + 1], bound->carried);
    }
    for (std::size_t i = carried; i < step.outputs.size(); ++i) {
      if (step.outputs[i] == program::kNoSlot) continue;
      const std::int64_t room = branch_.slots[step.outputs[i]].type.shape[0];
      bound->most_iterations = std::min(bound->most_iterations, room);
      AddCopy(step.outputs[i], body.outputs[i + 1], bound->slices);
    }
    return bound;
  }

  const Branch& branch_;
  const Workspace& workspace_;
  KernelBinder kernels_;
};

const Step& SourceOf(const KernelStep& step) { return *step.source; }
template <typename Nested>
const Step& SourceOf(const std::unique_ptr<Nested>& step) {
  return *step->source;
}

/// Observes nothing: costs nothing.
struct Unobserved {
  void Begin(const Step& /*step*/) const {}
  void End(const Step& /*step*/) const {}
};

/// Runs what is bound. `Observer` has the calls of StepObserver.
template <typename Observer>
class Runner {
 public:
  Runner(std::byte* scratch, kernels::ThreadPool& pool, Observer& observer)
      : scratch_(scratch), pool_(pool), observer_(observer) {}

  void Run(const BoundSteps& steps) const {
    for (const BoundStep& bound : steps) {
      std::visit(
          [this](const auto& step) {
            observer_.Begin(SourceOf(step));
            (*this)(step);
            observer_.End(SourceOf(step));
          },
          bound);
    }
  }

  void operator()(const KernelStep& step) const {
    step.kernel->run(
        {.inputs = step.inputs, .outputs = step.outputs, .scratch = scratch_, .pool = &pool_});
  }

  void operator()(const std::unique_ptr<IfStep>& step) const {
    const IfStep::Body& body = *step->condition != 0 ? step->taken : step->other;
    Run(body.steps);
    CopyAll(body.results);
  }

  void operator()(const std::unique_ptr<LoopStep>& step) const {
    std::int64_t left = step->most_iterations;
    if (step->trip_count != nullptr) left = std::min(left, *step->trip_count);
    *step->condition = step->starts == nullptr ? 1 : *step->starts;
    CopyAll(step->initial);
    for (std::int64_t i = 0; i < left && *step->condition != 0; ++i) {
      *step->iteration = i;
      Run(step->steps);
      for (const Copy& slice : step->slices) {
        std::memcpy(slice.to + static_cast<std::size_t>(i) * slice.bytes, slice.from, slice.bytes);
      }
      const std::uint8_t goes_on = *step->goes_on;  // which may be one of the carried values
      CopyAll(step->carried);
      *step->condition = goes_on;
    }
  }

 private:
  std::byte* scratch_;
  kernels::ThreadPool& pool_;
  Observer& observer_;
};

}  // namespace

std::byte* AddressOf(const program::Slot& slot, const Workspace& workspace) {
  switch (slot.space) {
    case program::Space::kArena:
      return workspace.arena + slot.offset;
    case program::Space::kWeights:
      return const_cast<std::byte*>(workspace.weights) + slot.offset;
    case program::Space::kVariables:
      break;
  }
  return const_cast<std::byte*>(workspace.variables) + slot.offset;
}

std::vector<BoundSteps> BindStages(const Branch& branch, const std::vector<Step>& sources,
                                   const Workspace& workspace) {
  Binder binder(branch, workspace);
  const std::span<const Step> steps(branch.steps);
  std::vector<BoundSteps> stages;
  for (std::size_t first = 0; first < steps.size(); first += stages.back().size()) {
    const auto rest = steps.subspan(first);
    const auto next = std::ranges::find_if(
        rest, [&](const Step& step) { return step.stage != rest.front().stage; });
    const auto count = static_cast<std::size_t>(next - rest.begin());
    stages.push_back(binder.Bind(rest.first(count), std::span(sources).subspan(first, count)));
  }
  return stages;
}

std::size_t ScratchBytes(const BoundSteps& steps) {
  std::size_t bytes = 0;
  for (const BoundStep& step : steps) {
    if (const auto* kernel = std::get_if<KernelStep>(&step)) {
      bytes = std::max(bytes, kernel->kernel->scratch_bytes);
    } else if (const auto* choice = std::get_if<std::unique_ptr<IfStep>>(&step)) {
      bytes = std::max(
          {bytes, ScratchBytes((*choice)->taken.steps), ScratchBytes((*choice)->other.steps)});
    } else {
      bytes = std::max(bytes, ScratchBytes(std::get<std::unique_ptr<LoopStep>>(step)->steps));
    }
  }
  return bytes;
}

void RunSteps(const BoundSteps& steps, std::byte* scratch, kernels::ThreadPool& pool) {
  Unobserved nobody;
  Runner(scratch, pool, nobody).Run(steps);
}

void RunSteps(const BoundSteps& steps, std::byte* scratch, kernels::ThreadPool& pool,
              StepObserver& observer) {
  Runner(scratch, pool, observer).Run(steps);
}

}  // namespace poprt::device
