#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "model_runtime/serving/device_program.hpp"

namespace model_runtime {

/// Takes the batches of many threads through one device. Thread-safe.
///
/// With the stream buffers of a program that has several stages, or I/O tiles, batches overlap:
/// each stage computes another one, the next is loaded and the one before is stored. The threads
/// that bring batches do the work, and any of them does what is next, so that none waits for one
/// that sleeps. In every stage batches compute in the order in which they came, and none waits for
/// batches still to come. A program with one buffer runs batch after batch, alone.
///
/// A batch that a fault of the device hits ends with it. Those that computed already go on. When
/// they are done the device is reset for the next batch; what had been loaded is loaded again.
class BatchPipeline {
 public:
  using Clock = std::chrono::steady_clock;

  /// As DeviceProgram.
  BatchPipeline(const std::shared_ptr<const poprt::device::Image>& image,
                std::shared_ptr<poprt::device::Device> device, const SharedVariables& variables,
                bool auto_reset);

  /// How many batches may be under way: as many as have something to do, or 1 if they do not
  /// overlap.
  unsigned depth() const { return depth_; }

  // ---- Batches that overlap, if depth() > 1 ----

  /// A batch on its way; must live from Enter to the end of Accompany.
  class Passage {
   public:
    /// `failure` receives what the batch died of. If it has a value before the batch computes, as
    /// one batch of a request may leave it to the next, nothing is computed.
    Passage(const Batch& batch, std::optional<DeviceFailure>& failure)
        : batch_(batch), failure_(failure) {}

   private:
    friend class BatchPipeline;
    enum class State : std::uint8_t {
      kCame,
      kLoads,
      kWaits,  ///< for its next stage
      kComputes,
      kComputed,
      kStores,
      kDone
    };

    const Batch batch_;
    std::optional<DeviceFailure>& failure_;
    State state_ = State::kCame;
    std::size_t stage_ = 0;         ///< that it computes, or is the next to
    std::size_t buffer_ = 0;        ///< from kLoads on
    std::uint64_t generation_ = 0;  ///< of the program that has its inputs; 0: none
    Clock::duration time_{0};       ///< spent so far
    std::condition_variable wake_;  ///< its thread, if it sleeps
    bool sleeps_ = false;
  };

  /// Puts a batch behind all others; waits until there are less than depth(). False, and it will
  /// not run, after Close.
  bool Enter(Passage& passage);
  /// Returns when a batch that has entered is done; works for it and for others meanwhile.
  void Accompany(Passage& passage);
  /// No batch enters any more.
  void Close();

  // ---- Batches that run alone ----

  /// The device without anybody else on it, for as long as the lock lives.
  using Lock = std::unique_lock<std::mutex>;
  /// Waits for the batches under way, before all others.
  Lock LockDevice();
  /// Owns nothing if batches are under way.
  Lock LockIdleDevice();
  /// Nor waits for others that have the device alone.
  Lock TryLockDevice();

  /// As DeviceProgram::Run; the caller has the lock, and the failure until it gives it back.
  const DeviceFailure* RunAlone(const Batch& batch) { return program_.Run(batch); }
  /// As DeviceProgram::LoadVariables; the caller has the lock.
  void LoadVariables() { program_.LoadVariables(); }

  /// The failure of each run to come.
  std::optional<DeviceFailure> LastingFailure();

  /// How long a batch of the branch took when last measured, without waiting; the longest time
  /// there is before that.
  std::chrono::nanoseconds TimeOf(std::size_t branch) const { return times_[branch].load(); }
  void SetTimeOf(std::size_t branch, std::chrono::nanoseconds time) { times_[branch] = time; }

 private:
  using State = Passage::State;
  /// What a batch is ready for, as the state it has meanwhile.
  struct Task {
    Passage* passage = nullptr;
    State meanwhile = State::kCame;
  };
  /// A stream buffer: whose batch is in it. The inputs are needed until the last stage has
  /// computed, the outputs from the first on until they are stored.
  struct Buffer {
    bool has_inputs = false;
    bool has_outputs = false;
  };

  // All with the mutex held; what unlocks it has it again at the end.
  /// The work that is most urgent, or none.
  Task NextTask() const;
  /// `ahead` is the batch before it, if there is one.
  bool CanCompute(const Passage& passage, const Passage* ahead) const;
  bool CanBegin(const Passage& passage) const;
  /// A buffer that can be loaded; the same again and again where one is enough, since that is in
  /// the caches of the processor.
  std::optional<std::size_t> FreeInputs() const;
  void Begin(const Task& task);
  void Load(Lock& lock, Passage& passage);
  void Compute(Lock& lock, Passage& passage);
  void Store(Lock& lock, Passage& passage);
  void End(Passage& passage);
  /// Lets a sleeping thread look for work.
  void WakeOne();

  std::mutex mutex_;
  DeviceProgram program_;
  const std::size_t num_stages_;
  const bool takes_inputs_before_store_;
  const unsigned depth_;
  std::vector<std::atomic<std::chrono::nanoseconds>> times_;  ///< of branches

  std::condition_variable room_;  ///< less than depth_ batches are under way
  std::condition_variable idle_;  ///< none is
  bool closed_ = false;
  unsigned waiting_for_idle_ = 0;
  std::vector<Passage*> under_way_;  ///< in the order in which they came
  std::vector<Buffer> buffers_;
};

}  // namespace model_runtime
