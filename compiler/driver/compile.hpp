#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/driver/convert.hpp"
#include "compiler/ipu/plan/plan.hpp"
#include "compiler/tuner/kernel_tuner.hpp"
#include "poprt/compiler/compiler_options.hpp"

namespace poprt::driver {

/// What is said about one graph of a container.
struct GraphReport {
  std::string name;
  std::size_t steps = 0;
  std::uint64_t weight_bytes = 0;        ///< its packed weights, shared ones included
  std::uint64_t arena_bytes = 0;         ///< its activations
  std::uint64_t weight_bytes_saved = 0;  ///< those weights that graphs before it hold already
  std::uint64_t arena_bytes_saved = 0;   ///< that part of its arena that graphs before it need too
  std::uint64_t variable_bytes = 0;      ///< its weights that are variables, which no graph shares
};

struct CompileReport {
  std::vector<GraphReport> graphs;
  std::uint64_t weight_bytes = 0;         ///< in the container
  std::uint64_t weight_bytes_shared = 0;  ///< saved since graphs share them
  std::uint64_t arena_bytes = 0;          ///< the largest of the graphs
  std::uint64_t arena_bytes_shared = 0;   ///< saved: the sum less the largest
  ipu::Plan ipu;                          ///< what the program does on the IPU
  double ipu_seconds = 0;
  double lower_seconds = 0;
  double plan_seconds = 0;
  double emit_seconds = 0;
  std::uint64_t container_bytes = 0;
  std::uint64_t variable_bytes = 0;  ///< of all graphs, in the container
};

/// Plans for the IPU as PlanForIpu does, lowers, plans and writes the container to `path`, which
/// appears only when it is complete and `may_appear`, if there is one, agrees; else its status is
/// returned and what was there before stays. InvalidArgument lists every option and every node that
/// cannot be compiled. Kernels are chosen by the tuner or, if it is null, by the cost table.
absl::StatusOr<CompileReport> CompileToFile(
    Converted converted, const compiler::CompilerOptions& options, const std::string& path,
    const Progress& progress, const Log& warn, tuner::KernelTuner* tuner = nullptr,
    const std::function<absl::Status()>& may_appear = nullptr);

/// As CompileToFile, to a binary stream.
absl::StatusOr<CompileReport> CompileToStream(Converted converted,
                                              const compiler::CompilerOptions& options,
                                              std::ostream& out, const Progress& progress,
                                              const Log& warn, tuner::KernelTuner* tuner = nullptr);

}  // namespace poprt::driver
