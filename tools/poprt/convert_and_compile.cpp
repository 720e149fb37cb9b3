#include "tools/poprt/convert_and_compile.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/driver/compile.hpp"
#include "compiler/driver/convert.hpp"
#include "compiler/driver/ipu_plan.hpp"
#include "compiler/driver/option_table.hpp"
#include "compiler/emit/onnx_export.hpp"
#include "compiler/emit/write_file.hpp"
#include "compiler/ops/op.hpp"
#include "compiler/tuner/kernel_tuner.hpp"
#include "compiler/tuner/measure_workloads.hpp"
#include "compiler/tuner/this_machine.hpp"
#include "runtime/kernels/thread_pool.hpp"
#include "tools/poprt/ipu_reports.hpp"
#include "tools/poprt/logging.hpp"
#include "tools/poprt/output_files.hpp"
#include "tools/poprt/progress_bar.hpp"
#include "tools/poprt/run_model.hpp"

namespace poprt::cli {
namespace {

ProgressStyle StyleOf(const Settings& settings, const Terminal& terminal) {
  if (!settings.compiler.showCompilationProgressBar) return ProgressStyle::kSilent;
  return terminal.err_is_terminal ? ProgressStyle::kBars : ProgressStyle::kLines;
}

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The converted model takes its name after the container, so that a model that cannot be compiled
// leaves no file behind.
class Job {
 public:
  Job(const Settings& settings, const Terminal& terminal)
      : settings_(settings),
        files_(OutputFilesOf(settings)),
        bar_(terminal.err, StyleOf(settings, terminal), terminal.err_columns),
        logger_(terminal.err, settings.logging_level, &bar_),
        progress_([this](const std::string& phase, int done, int total) {
          bar_.Update(phase, done, total);
        }),
        warn_([this](const std::string& message) {
          logger_.Warning(message);
          outcome_.warnings.push_back(message);
        }) {}

  absl::StatusOr<Outcome> Run() {
    const auto start = Clock::now();
    absl::Status status = CheckWritable(files_);
    if (status.ok()) status = driver::CheckTarget(settings_.compiler);
    if (status.ok()) status = PrepareTuner();
    if (!status.ok()) return status;
    NameIneffectiveOptions();
    absl::StatusOr<driver::Converted> converted =
        driver::Convert(settings_.models, settings_.fuse, progress_, warn_);
    if (!converted.ok()) {
      bar_.MakeRoom();  // complete or not, it must not look like success
      return converted.status();
    }
    const auto export_start = Clock::now();
    absl::StatusOr<emit::FilePieces> onnx = Export(*converted);
    if (!onnx.ok()) return onnx.status();
    outcome_.onnx_seconds = SecondsSince(export_start);
    Describe(*converted);
    const std::vector<std::string> graphs = converted->names;
    status = MakeFolders(files_);
    if (!status.ok()) return status;
    const std::uint64_t onnx_bytes = onnx->bytes();
    status = WriteAndCompile(*std::move(onnx), *std::move(converted));
    if (!status.ok()) return status;
    outcome_.files.insert(outcome_.files.begin(), {"onnx", files_.onnx, onnx_bytes});
    bar_.Finish();
    if (settings_.run) status = Execute(graphs);
    if (!status.ok()) return status;
    outcome_.total_seconds = SecondsSince(start);
    return std::move(outcome_);
  }

 private:
  absl::Status PrepareTuner() {
    if (!settings_.perf_tuner) return absl::OkStatus();
    tuner::TimingCache cache;
    if (const std::string& path = settings_.perf_tuner_cache; !path.empty()) {
      absl::StatusOr<tuner::TimingCache> read = tuner::ReadTimingCache(path);
      if (!read.ok()) return read.status();
      cache = *std::move(read);
    }
    kernels::ThreadPool& pool = kernels::ProcessThreadPool();
    const auto measure = [&pool](std::span<const tuner::Workload> workloads) {
      return tuner::MeasureWorkloads(workloads, pool);
    };
    tuner_.emplace(tuner::ThisMachine(pool), std::move(cache), measure, warn_);
    return absl::OkStatus();
  }

  absl::Status FinishTuner() {
    if (!tuner_) return absl::OkStatus();
    outcome_.tuning = tuner_->report();
    if (settings_.perf_tuner_cache.empty()) return absl::OkStatus();
    const std::string json = tuner_->cache().ToJson();
    absl::Status status = emit::WriteFileAtomically(settings_.perf_tuner_cache, json);
    if (!status.ok()) return status;
    outcome_.files.push_back({"perf_tuner_cache", settings_.perf_tuner_cache, json.size()});
    return absl::OkStatus();
  }

  void NameIneffectiveOptions() {
    for (const std::string& name : driver::IneffectiveOptions(settings_.compiler)) {
      logger_.Info(absl::StrCat("compiler option '", name,
                                "' has no effect on the model device; it is recorded only"));
    }
  }

  absl::Status WriteAndCompile(emit::FilePieces onnx, driver::Converted converted) {
    absl::StatusOr<emit::PendingFile> file = emit::PendingFile::Create(files_.onnx);
    if (!file.ok()) return file.status();
    // Mostly the system's work, for which compiling need not wait.
    constexpr auto kInAThreadIfThereIsOne = std::launch::async | std::launch::deferred;
    std::shared_future<absl::Status> written = std::async(kInAThreadIfThereIsOne, [&] {
      const auto write_start = Clock::now();
      absl::Status result = file->Write(std::move(onnx));
      outcome_.onnx_seconds += SecondsSince(write_start);
      return result;
    });
    absl::Status status = Plan(converted);
    if (status.ok()) status = Compile(std::move(converted), [&] { return written.get(); });
    if (const absl::Status& writing = written.get(); status.ok()) status = writing;
    if (status.ok()) status = WriteReports();
    if (status.ok()) status = FinishTuner();
    return status.ok() ? (*std::move(file)).Commit() : status;
  }

  /// In the opset asked for or, when none is, in the first from the default on that has a form for
  /// every operator.
  absl::StatusOr<emit::FilePieces> Export(const driver::Converted& converted) {
    const int last = settings_.convert_version.value_or(ops::kNewestOpset);
    int& opset = outcome_.convert_version;
    for (opset = settings_.convert_version.value_or(emit::kDefaultExportOpset);; ++opset) {
      absl::StatusOr<emit::FilePieces> model =
          converted.fused() ? emit::ExportFusedOnnx(converted.graphs, opset)
                            : emit::ExportOnnx(converted.graphs.front(), opset);
      if (!absl::IsUnimplemented(model.status()) || opset == last) return model;
    }
  }

  void Describe(const driver::Converted& converted) {
    for (const driver::ModelReport& model : converted.models) {
      for (const std::string& input : model.narrowed_inputs) {
        logger_.Info(absl::StrCat(model.name, ": input '", input,
                                  "' is int64 in the model file and int32 in what is written"));
      }
      for (const passes::PassRecord& pass : model.passes) {
        logger_.Debug(absl::StrCat(model.name, ": ", pass.name, " took ", pass.seconds, " s, ",
                                   pass.changed ? "changed the graph, " : "changed nothing, ",
                                   pass.nodes_after, " nodes"));
      }
    }
    outcome_.models = converted.models;
    outcome_.fused = converted.fused();
    outcome_.constant_bytes_before = converted.constant_bytes_before;
    outcome_.constant_bytes_after = converted.constant_bytes_after;
    outcome_.fuse_seconds = converted.fuse_seconds;
  }

  bool compiles() const { return settings_.export_popef || settings_.run; }

  /// For the report alone: what compiles makes the plan anyway.
  absl::Status Plan(const driver::Converted& converted) {
    if (compiles() || !(settings_.report || !settings_.profile_dir.empty())) {
      return absl::OkStatus();
    }
    auto plan = driver::PlanForIpu(converted, settings_.compiler, warn_);
    if (!plan.ok()) return plan.status();
    outcome_.ipu = *std::move(plan);
    return absl::OkStatus();
  }

  absl::Status WriteReports() {
    outcome_.report = settings_.report;
    if (!outcome_.ipu || settings_.profile_dir.empty()) return absl::OkStatus();
    absl::StatusOr<std::vector<WrittenFile>> files =
        WriteIpuReports(*outcome_.ipu, settings_.profile_dir);
    if (!files.ok()) return files.status();
    outcome_.files.insert(outcome_.files.end(), files->begin(), files->end());
    return absl::OkStatus();
  }

  absl::Status Compile(driver::Converted converted,
                       const std::function<absl::Status()>& may_appear) {
    if (!compiles()) return absl::OkStatus();
    const auto stream = std::make_shared<std::stringstream>();
    tuner::KernelTuner* const tuner = tuner_ ? &*tuner_ : nullptr;
    auto report = settings_.export_popef
                      ? driver::CompileToFile(std::move(converted), settings_.compiler,
                                              files_.popef, progress_, warn_, tuner, may_appear)
                      : driver::CompileToStream(std::move(converted), settings_.compiler, *stream,
                                                progress_, warn_, tuner);
    if (!report.ok()) return report.status();
    if (settings_.export_popef) {
      container_ = files_.popef;
      outcome_.files.push_back({"popef", files_.popef, report->container_bytes});
    } else {
      container_ = std::shared_ptr<std::istream>(stream);
    }
    outcome_.ipu = std::move(report->ipu);
    outcome_.compiled = *std::move(report);
    return absl::OkStatus();
  }

  absl::Status Execute(const std::vector<std::string>& graphs) {
    absl::StatusOr<std::vector<RunReport>> runs = RunContainer(container_, graphs);
    if (!runs.ok()) return runs.status();
    outcome_.runs = *std::move(runs);
    if (graphs.empty()) outcome_.runs.front().graph = outcome_.models.front().name;
    return absl::OkStatus();
  }

  const Settings& settings_;
  OutputFiles files_;
  ProgressBar bar_;
  Logger logger_;
  driver::Progress progress_;
  driver::Log warn_;
  std::optional<tuner::KernelTuner> tuner_;
  ContainerSource container_;
  Outcome outcome_;
};

}  // namespace

absl::StatusOr<Outcome> ConvertAndCompile(const Settings& settings, const Terminal& terminal) {
  return Job(settings, terminal).Run();
}

}  // namespace poprt::cli
