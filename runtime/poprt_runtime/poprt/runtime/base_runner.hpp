#pragma once

#include <vector>

#include "poprt/runtime/runtime_commons.hpp"

namespace poprt::runtime {

/// What every runner does. Functions may be called from several threads; errors are exceptions
/// derived from std::runtime_error. Memory must stay valid until its request is done. An output
/// with DataDesc::openAxis needs memory for the largest shape, the described one; its result takes
/// the first bytes of it, densely packed.
class BaseRunner {
 public:
  virtual ~BaseRunner() = default;

  /// Runs and returns when the outputs are written.
  virtual void execute(const InputMemoryView& inputs, const OutputMemoryView& outputs) = 0;
  /// Queues the request. Requests run in order; the futures carry the exception of one that fails,
  /// otherwise views of the bytes the results take.
  virtual OutputFutureMemoryView executeAsync(const InputMemoryView& inputs,
                                              const OutputMemoryView& outputs) = 0;

  virtual std::vector<InputDesc> getExecuteInputs() const = 0;
  virtual std::vector<OutputDesc> getExecuteOutputs() const = 0;
};

}  // namespace poprt::runtime
