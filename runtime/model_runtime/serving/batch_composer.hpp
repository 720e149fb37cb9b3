#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <span>
#include <vector>

#include "model_runtime/serving/batch_plan.hpp"
#include "model_runtime/serving/device_failure.hpp"
#include "model_runtime/serving/request_queue.hpp"

namespace model_runtime {

/// What fills the rows that are missing when an incomplete batch runs, by graph: a request of one
/// batch. Where it has no input there are zeros; where it has no output nothing is written.
using Fillers = std::vector<Route>;

/// Puts the rows of requests into batches of the model. Not thread-safe.
///
/// Whole batches of a request run at once. The rows that are left wait for rows of later requests
/// for the same graph; they run when a batch is complete, or when the first of them has waited long
/// enough.
class BatchComposer {
 public:
  using Clock = std::chrono::steady_clock;
  /// Runs a batch; null after success. The failure is read before the next run. Throws nothing.
  using RunBatch = std::function<const DeviceFailure*(
      std::size_t branch, std::span<const void* const> inputs, std::span<void* const> outputs)>;
  /// Called once for each request, when its outputs are written or with what went wrong. Throws
  /// nothing.
  using Finish = std::function<void(Request* request, std::exception_ptr error)>;

  /// `wait`: how long rows wait; max for ever. The plan and the program must outlive this object.
  BatchComposer(const BatchPlan& plan, const poprt::program::Program& program, Fillers fillers,
                Clock::duration wait, RunBatch run, Finish finish);

  /// Takes a request and runs what can run. When it throws, for want of memory, the request is the
  /// caller's again and has not been finished.
  void Add(Request* request);

  /// Runs the batches whose rows have waited long enough.
  void RunOverdue(Clock::time_point now);

  /// When RunOverdue has something to do next; max if never.
  Clock::time_point deadline() const;

  /// No rows wait.
  bool empty() const;

  /// Ends the requests whose rows wait.
  void FailAll(const DeviceFailure& failure);

 private:
  using Memory = std::vector<std::vector<std::byte>>;

  /// Rows of a request in a batch.
  struct Part {
    Request* request;
    std::uint64_t first;  ///< in the request
    std::uint64_t rows;
  };
  /// The batch of a graph that is not complete.
  struct Open {
    std::vector<Part> parts;
    std::uint64_t rows = 0;
    Clock::time_point deadline;
    Memory inputs;
  };

  /// Runs the batch of a request that begins at row `first`.
  const DeviceFailure* RunWhole(const Route& route, std::uint64_t first);
  const DeviceFailure* RunWhereItLies(const Route& route, std::uint64_t first);
  /// False when the batch was completed and has failed: the request has been finished then.
  bool AddPart(Request* request, std::uint64_t first, std::uint64_t rows);
  /// True after success.
  bool RunOpen(std::size_t branch);
  const DeviceFailure* RunFrom(std::size_t branch, const Route& route, Memory& inputs);
  void Gather(const Route& route, std::uint64_t first, std::uint64_t rows, Memory& inputs,
              std::uint64_t at) const;
  void Scatter(const Route& route, std::uint64_t first, std::uint64_t rows, std::uint64_t at) const;

  const BatchPlan& plan_;
  Fillers fillers_;
  Clock::duration wait_;
  RunBatch run_;
  Finish finish_;
  std::vector<Open> open_;      ///< by graph
  std::vector<Memory> inputs_;  ///< by graph: of a whole batch that does not lie as one
  std::vector<Memory> outputs_;
  std::vector<const void*> input_pointers_;
  std::vector<void*> output_pointers_;
};

}  // namespace model_runtime
