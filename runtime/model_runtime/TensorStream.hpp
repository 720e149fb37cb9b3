#pragma once

#include <cstdint>
#include <optional>

namespace model_runtime {

/// Where a program takes an input from. The thread that runs the program calls everything but
/// Stop() and Start(), which any thread may call.
class TensorSource {
 public:
  TensorSource() = default;
  virtual ~TensorSource() = default;
  TensorSource(const TensorSource&) = delete;
  TensorSource& operator=(const TensorSource&) = delete;

  /// The next tensor; may wait for it. The memory must stay until Consumed() or Failed(), before
  /// which Next() gives the same tensor again. Null: none will come, the run ends.
  virtual const void* Next() = 0;
  /// The program has read what Next() gave.
  virtual void Consumed() {}
  /// The run that was to read what Next() gave has failed.
  virtual void Failed() {}
  /// What Next() gave stands for data that nobody supplied.
  virtual bool IsStandIn() const { return false; }
  /// Each run reads it, for no run in particular.
  virtual bool IsConstant() const { return false; }
  /// The program has ended, after any number of tensors.
  virtual void ProgramOver() {}

  /// Ends waiting in Next(), now and until Start().
  virtual void Stop() {}
  virtual void Start() {}
};

/// Where a program puts an output. Threads as for TensorSource.
class TensorSink {
 public:
  TensorSink() = default;
  virtual ~TensorSink() = default;
  TensorSink(const TensorSink&) = delete;
  TensorSink& operator=(const TensorSink&) = delete;

  /// Memory for the next result; null if nobody wants it.
  virtual void* Next() = 0;
  /// The program has written what Next() gave. `extent`: that of the open axis, if there is one.
  /// May wait for user memory to put the result in.
  virtual void Filled(std::optional<std::int64_t> extent) = 0;
  /// The run that was to write what Next() gave has failed.
  virtual void Failed() {}
  /// Nobody wants the result.
  virtual bool IsStandIn() const { return false; }
  /// Filled() will not wait.
  virtual bool IsPlaced() const { return true; }
  virtual void ProgramOver() {}

  virtual void Stop() {}
  virtual void Start() {}
};

}  // namespace model_runtime
