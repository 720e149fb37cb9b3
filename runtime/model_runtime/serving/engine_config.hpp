#pragma once

#include <chrono>
#include <cstdint>
#include <utility>

#include "model_runtime/Tensor.hpp"

namespace model_runtime {

/// Stands for a batching_dim that switches batching off.
inline constexpr std::uint32_t kNoBatching = 0xFFFFFFFF;

/// How an Engine serves requests. Fields that ModelRunnerConfig has too mean the same there.
struct EngineConfig {
  /// A request must give exactly the tensors of the graph it runs. If not set, outputs may be left
  /// out and tensors no graph knows are ignored.
  bool validate_io_params = true;
  /// Refuse containers another version of the compiler has written.
  bool check_package_hash = true;
  /// Read the whole executable and compare its hash before it is loaded.
  bool verify_weights = false;
  std::uint32_t batching_dim = kNoBatching;
  std::chrono::nanoseconds timeout_ns{10'000'000};
  bool is_batch_size_timeout_enabled = false;
  std::chrono::nanoseconds batch_size_timeout_ns = std::chrono::nanoseconds::max();
  bool auto_reset = false;
  std::uint32_t ring_buffer_size_multiplier = 2;
  bool flush_on_waiting_outputs = false;
  std::uint32_t request_tracepoints_buffer_size = 1000;
  /// Submit runs a request itself that takes less time, judged by the run before: to hand it to
  /// another thread and to be woken by that takes as long on a quiet machine, longer on others.
  std::chrono::nanoseconds short_run_ns{10'000};
  InputMemoryView frozen_inputs = {};
  std::pair<InputMemoryView, OutputMemoryView> flush_by_name = {};
};

}  // namespace model_runtime
