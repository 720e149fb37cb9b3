#include "compiler/driver/compile.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <map>
#include <ostream>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/driver/ipu_plan.hpp"
#include "compiler/driver/lower_graph.hpp"
#include "compiler/driver/option_table.hpp"
#include "compiler/emit/build_program.hpp"
#include "compiler/emit/container.hpp"
#include "compiler/host/arena.hpp"
#include "compiler/host/weights.hpp"
#include "compiler/ipu/plan/planned_stages.hpp"
#include "compiler/ipu/report/report_json.hpp"
#include "popef/Writer.hpp"

namespace poprt::driver {
namespace {

using Clock = std::chrono::steady_clock;

/// Adds the time since its construction to `seconds`.
class Timer {
 public:
  explicit Timer(double& seconds) : seconds_(seconds), start_(Clock::now()) {}
  ~Timer() { seconds_ += std::chrono::duration<double>(Clock::now() - start_).count(); }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

 private:
  double& seconds_;
  Clock::time_point start_;
};

std::vector<popef::Option> EngineOptions(const compiler::CompilerOptions& options) {
  std::vector<popef::Option> result;
  const compiler::CompilerOptions defaults;
  for (const CompilerOptionDef& def : CompilerOptionTable()) {
    // Blobs are blobs; how progress is shown and where a file lies must not change the bytes.
    if (def.name == "opaque_blobs" || def.name == "show_compilation_progress_bar" ||
        def.name == "target_config") {
      continue;
    }
    if (def.get(options) != def.get(defaults)) {
      result.emplace_back("poprt." + std::string(def.name), def.get(options));
    }
  }
  return result;
}

std::vector<popef::Option> DeviceOptions(const ipu::Plan& plan) {
  return {{"ipuVersion", plan.target.ipu_version},
          {"tilesPerIpu", std::to_string(plan.target.tiles)},
          {"numIoTiles", std::to_string(plan.partition.io_tiles)},
          {"numComputeTiles", std::to_string(plan.partition.compute_tiles)}};
}

/// PlanForIpu has checked it.
std::uint32_t BatchesPerStep(const ipu::Plan& plan) {
  return static_cast<std::uint32_t>(plan.options.batches_per_step);
}

/// The plan for the IPU, lowering each graph, planning for the host and writing.
int TotalSteps(std::size_t graphs) { return static_cast<int>(graphs) + 3; }

/// A line about more stages than a program may have; or empty.
std::string StageProblem(const lower::Schedule& schedule) {
  const std::uint32_t stages = schedule.steps.empty() ? 1 : schedule.steps.back().stage + 1;
  if (stages <= program::kMostStages) return "";
  return absl::StrCat(schedule.name, ": the nodes name ", stages,
                      " stages of a pipeline, allowed are ", program::kMostStages,
                      "; put more nodes in one");
}

absl::StatusOr<std::vector<lower::Schedule>> LowerAll(Converted& converted, bool constant_weights,
                                                      const Progress& progress, const Log& warn,
                                                      tuner::KernelTuner* tuner) {
  std::vector<lower::Schedule> schedules;
  std::string problems;
  const int total = TotalSteps(converted.graphs.size());
  for (std::size_t i = 0; i < converted.graphs.size(); ++i) {
    progress("lower", static_cast<int>(i) + 1, total);
    auto schedule = LowerGraph(std::exchange(converted.graphs[i], {}), converted.pipelines[i],
                               constant_weights, warn, tuner);
    if (schedule.ok()) {
      const std::string problem = StageProblem(*schedule);
      absl::StrAppend(&problems, problems.empty() || problem.empty() ? "" : "\n", problem);
      schedules.push_back(*std::move(schedule));
    } else if (schedule.status().code() == absl::StatusCode::kInvalidArgument) {
      absl::StrAppend(&problems, problems.empty() ? "" : "\n", schedule.status().message());
    } else {
      return schedule.status();
    }
  }
  if (!problems.empty()) return absl::InvalidArgumentError(problems);
  return schedules;
}

/// Offsets of the weights that a schedule reads, with their bytes.
std::map<std::uint64_t, std::uint64_t> WeightsOf(const lower::Schedule& schedule,
                                                 const std::vector<std::uint64_t>& offsets) {
  std::map<std::uint64_t, std::uint64_t> weights;
  const auto use = [&](lower::BufferId id) {
    if (id == lower::kNoBuffer) return;
    const lower::BufferId storage = schedule.Storage(id);
    const auto& constant = schedule.buffers[storage].constant;
    if (constant && constant->bytes() > 0) weights[offsets[storage]] = constant->bytes();
  };
  for (const lower::BufferId id : lower::BuffersRead(schedule)) use(id);
  return weights;
}

/// In the order of the program's variables.
std::vector<Tensor> ValuesOfVariables(const std::vector<lower::Schedule>& schedules) {
  std::vector<Tensor> values;
  for (const lower::Schedule& schedule : schedules) {
    for (const lower::Variable& variable : schedule.variables) values.push_back(variable.value);
  }
  return values;
}

std::uint64_t VariableBytes(const lower::Schedule& schedule) {
  std::uint64_t bytes = 0;
  for (const lower::Variable& variable : schedule.variables) bytes += variable.value.bytes();
  return bytes;
}

void Report(const std::vector<lower::Schedule>& schedules,
            const std::vector<host::ArenaPlan>& arenas, const host::WeightsPlan& weights,
            CompileReport& report) {
  std::uint64_t weight_sum = 0;
  std::uint64_t arena_sum = 0;
  std::set<std::uint64_t> seen;
  for (std::size_t i = 0; i < schedules.size(); ++i) {
    std::uint64_t saved = 0;
    for (const auto& [offset, bytes] : WeightsOf(schedules[i], weights.offsets[i])) {
      if (!seen.insert(offset).second) saved += bytes;
    }
    report.graphs.push_back({.name = schedules[i].name,
                             .steps = schedules[i].steps.size(),
                             .weight_bytes = weights.bytes_of_graph[i],
                             .arena_bytes = arenas[i].bytes,
                             .weight_bytes_saved = saved,
                             .arena_bytes_saved = std::min(report.arena_bytes, arenas[i].bytes),
                             .variable_bytes = VariableBytes(schedules[i])});
    weight_sum += weights.bytes_of_graph[i];
    report.variable_bytes += report.graphs.back().variable_bytes;
    arena_sum += arenas[i].bytes;
    report.arena_bytes = std::max(report.arena_bytes, arenas[i].bytes);
  }
  for (const auto& [offset, piece] : weights.pieces) report.weight_bytes += piece.bytes();
  report.weight_bytes_shared = weight_sum - report.weight_bytes;
  report.arena_bytes_shared = arena_sum - report.arena_bytes;
}

/// Lowers and plans; hands the container to `write`, which says how many bytes it wrote.
template <typename Write>
absl::StatusOr<CompileReport> Compile(Converted converted, const compiler::CompilerOptions& options,
                                      const Progress& progress, const Log& warn,
                                      tuner::KernelTuner* tuner, Write write) {
  const bool fused = converted.fused();
  const int total = TotalSteps(converted.graphs.size());
  CompileReport report;
  {
    const Timer timer(report.ipu_seconds);
    progress("plan for the IPU", 0, total);
    auto plan = PlanForIpu(converted, options, warn);
    if (!plan.ok()) return plan.status();
    report.ipu = *std::move(plan);
    for (std::size_t i = 0; i < converted.graphs.size(); ++i) {
      ipu::SetPlannedStages(report.ipu.graphs[i], converted.graphs[i]);
    }
  }
  absl::StatusOr<std::vector<lower::Schedule>> schedules;
  {
    const Timer timer(report.lower_seconds);
    schedules = LowerAll(converted, options.constantWeights, progress, warn, tuner);
    if (!schedules.ok()) return schedules.status();
  }
  std::vector<host::ArenaPlan> arenas;
  host::WeightsPlan weights;
  emit::Container container;
  {
    const Timer timer(report.plan_seconds);
    progress("plan", total - 2, total);
    for (const lower::Schedule& schedule : *schedules) arenas.push_back(host::PlanArena(schedule));
    weights = host::PlanWeights(*schedules);
    container = {.program = emit::BuildProgram(*schedules, arenas, weights, report.ipu.target,
                                               report.ipu.partition, BatchesPerStep(report.ipu)),
                 .weights = &weights,
                 .variables = ValuesOfVariables(*schedules),
                 .fused = fused,
                 .num_ipus = report.ipu.options.num_ipus,
                 .engine_options = EngineOptions(options),
                 .device_options = DeviceOptions(report.ipu),
                 .ipu_plan = ipu::CompactReportJson(report.ipu),
                 .opaque_blobs = options.opaqueBlobs};
  }
  Report(*schedules, arenas, weights, report);
  {
    const Timer timer(report.emit_seconds);
    progress("write", total - 1, total);
    const absl::StatusOr<std::uint64_t> bytes = write(container);
    if (!bytes.ok()) return bytes.status();
    report.container_bytes = *bytes;
    progress("write", total, total);
  }
  return report;
}

}  // namespace

absl::StatusOr<CompileReport> CompileToFile(Converted converted,
                                            const compiler::CompilerOptions& options,
                                            const std::string& path, const Progress& progress,
                                            const Log& warn, tuner::KernelTuner* tuner,
                                            const std::function<absl::Status()>& may_appear) {
  const auto write = [&](const emit::Container& container) -> absl::StatusOr<std::uint64_t> {
    try {
      popef::FileWriter writer(path, popef::FileWriter::Mode::CREATE);
      absl::Status status = emit::WriteContainer(container, writer);
      if (status.ok() && may_appear) status = may_appear();
      if (!status.ok()) return status;
      writer.close();
      return std::filesystem::file_size(path);
    } catch (const std::exception& error) {
      return absl::PermissionDeniedError(absl::StrCat("cannot write '", path, "': ", error.what()));
    }
  };
  return Compile(std::move(converted), options, progress, warn, tuner, write);
}

absl::StatusOr<CompileReport> CompileToStream(Converted converted,
                                              const compiler::CompilerOptions& options,
                                              std::ostream& out, const Progress& progress,
                                              const Log& warn, tuner::KernelTuner* tuner) {
  const auto write = [&](const emit::Container& container) -> absl::StatusOr<std::uint64_t> {
    try {
      const auto start = out.tellp();
      popef::Writer writer(out);
      const absl::Status status = emit::WriteContainer(container, writer);
      if (!status.ok()) return status;
      writer.close();
      return static_cast<std::uint64_t>(out.tellp() - start);
    } catch (const std::exception& error) {
      return absl::InternalError(absl::StrCat("cannot write the container: ", error.what()));
    }
  };
  return Compile(std::move(converted), options, progress, warn, tuner, write);
}

}  // namespace poprt::driver
