#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "runtime/device/step_observer.hpp"
#include "runtime/kernels/kernel.hpp"
#include "runtime/program/program.hpp"

/// The steps of a program with addresses instead of slots, ready to run on the host.
namespace poprt::device {

/// Memory that steps run in.
struct Workspace {
  std::byte* arena = nullptr;
  const std::byte* weights = nullptr;
  const std::byte* variables = nullptr;
};

struct IfStep;
struct LoopStep;

struct KernelStep {
  const program::Step* source = nullptr;               ///< what observers are told of
  std::shared_ptr<const kernels::BoundKernel> kernel;  ///< also of other steps with the same call
  std::vector<const std::byte*> inputs;
  std::vector<std::byte*> outputs;
};

using BoundStep = std::variant<KernelStep, std::unique_ptr<IfStep>, std::unique_ptr<LoopStep>>;
using BoundSteps = std::vector<BoundStep>;

/// Bytes that go from one place to another, which do not overlap.
struct Copy {
  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  std::size_t bytes = 0;
};

struct IfStep {
  struct Body {
    BoundSteps steps;
    std::vector<Copy> results;
  };
  const program::Step* source = nullptr;
  const std::uint8_t* condition = nullptr;
  Body taken;
  Body other;
};

struct LoopStep {
  const program::Step* source = nullptr;
  const std::int64_t* trip_count = nullptr;  ///< null: no bound
  const std::uint8_t* starts = nullptr;      ///< null: true
  std::int64_t most_iterations = 0;          ///< what the stacked results have room for
  std::int64_t* iteration = nullptr;
  std::uint8_t* condition = nullptr;
  std::vector<Copy> initial;
  BoundSteps steps;
  const std::uint8_t* goes_on = nullptr;
  std::vector<Copy> carried;
  std::vector<Copy> slices;  ///< `to` is the place of the first
};

/// The address of a slot. Steps never write to weights or variables (FindProblem), so dropping
/// const is safe.
std::byte* AddressOf(const program::Slot& slot, const Workspace& workspace);

/// Binds the steps of a branch of a checked program, those of each stage. `sources` are the steps
/// that observers are told of, in the same order, and must outlive what is bound; `branch` need
/// not. Throws DeviceError naming branch, step and reason when a kernel refuses its operands.
std::vector<BoundSteps> BindStages(const program::Branch& branch,
                                   const std::vector<program::Step>& sources,
                                   const Workspace& workspace);

/// In order.
inline void CopyAll(const std::vector<Copy>& copies) {
  for (const Copy& copy : copies) std::memcpy(copy.to, copy.from, copy.bytes);
}

/// The largest scratch that any of the steps wants for a worker.
std::size_t ScratchBytes(const BoundSteps& steps);

/// Runs the steps in order. Allocates nothing.
void RunSteps(const BoundSteps& steps, std::byte* scratch, kernels::ThreadPool& pool);

/// The same, telling `observer` of every step.
void RunSteps(const BoundSteps& steps, std::byte* scratch, kernels::ThreadPool& pool,
              StepObserver& observer);

}  // namespace poprt::device
