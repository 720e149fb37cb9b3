#pragma once

#include "runtime/program/program.hpp"

namespace poprt::device {

/// Is told what a run does, step by step: LoadedProgram::RunObserved.
class StepObserver {
 public:
  virtual ~StepObserver() = default;
  StepObserver() = default;
  StepObserver(const StepObserver&) = delete;
  StepObserver& operator=(const StepObserver&) = delete;

  /// Called on the thread that runs, right before and right after a step of the program that is
  /// loaded. Between the calls for an If or a Loop come those for the steps in their bodies, as
  /// often as these run.
  virtual void Begin(const program::Step& step) = 0;
  virtual void End(const program::Step& step) = 0;
};

}  // namespace poprt::device
