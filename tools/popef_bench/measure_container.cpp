#include "tools/popef_bench/measure_container.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

#include "poprt/runtime/model_runner.hpp"
#include "runtime/kernels/inner_loops.hpp"
#include "runtime/kernels/thread_pool.hpp"
#include "tools/popef_bench/bench_requests.hpp"
#include "tools/popef_bench/graph_index.hpp"
#include "tools/popef_bench/run_budget.hpp"
#include "tools/popef_bench/stopwatch.hpp"
#include "tools/requests/fused_graphs.hpp"

namespace poprt::bench {
namespace {

using requests::Request;
using runtime::DataDesc;
using runtime::ModelRunner;

constexpr int kLoads = 5;
constexpr int kSwitchingRounds = 5;

double Median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

/// A graph and a request to it.
struct Target {
  std::vector<DataDesc> inputs;
  std::vector<DataDesc> outputs;
  Request request;
};

double RunOnce(ModelRunner& runner, const Target& target) {
  Stopwatch watch;
  runner.execute(target.request.inputs, target.request.outputs);
  return watch.Lap();
}

/// The names of the graphs that the options select; an empty one for a model that is not fused.
std::vector<std::string> SelectGraphs(const Executable& executable, const BenchOptions& options) {
  std::vector<std::string> graphs{""};
  if (executable.isFused()) graphs = requests::GraphsOf(executable);
  if (!options.index) return graphs;
  const auto index = static_cast<std::size_t>(*options.index);
  CheckIndex(index, graphs.size());
  return {graphs[index]};
}

std::vector<Target> MakeTargets(const ModelRunner& runner, const std::vector<std::string>& graphs,
                                const BenchOptions& options) {
  std::vector<DataDesc> all_inputs;
  std::vector<DataDesc> all_outputs;
  std::vector<Target> targets;
  for (const std::string& graph : graphs) {
    Target& target = targets.emplace_back();
    target.inputs = requests::TensorsOf(runner.getExecuteInputs(), graph);
    target.outputs = requests::TensorsOf(runner.getExecuteOutputs(), graph);
    all_inputs.insert(all_inputs.end(), target.inputs.begin(), target.inputs.end());
    all_outputs.insert(all_outputs.end(), target.outputs.begin(), target.outputs.end());
  }
  CheckFileOptions(all_inputs, all_outputs, options);
  for (Target& target : targets) {
    target.request = MakeRequest(target.inputs, target.outputs, options);
  }
  return targets;
}

void WriteOutputsOf(ModelRunner& runner, const Target& target, const BenchOptions& options) {
  runtime::OutputShapes shapes;
  runner.execute(target.request.inputs, target.request.outputs, shapes);
  WriteOutputs(target.request, target.outputs, shapes, options);
}

void MeasureLatency(ModelRunner& runner, const Target& target, const BenchOptions& options,
                    GraphReport& report) {
  const int runs = RunsFor(RunOnce(runner, target), options);
  report.latency = requests::Measure(runner, {&target.request, 1}, runs, 1);
}

void MeasureThroughput(ModelRunner& runner, const Target& target, const BenchOptions& options,
                       GraphReport& report) {
  if (options.clients == 0) return;
  std::vector<Request> clients;
  for (int i = 0; i < options.clients; ++i) {
    clients.push_back(MakeRequest(target.inputs, target.outputs, options));
  }
  const int runs = RunsFor(report.latency.Percentile(50), options);
  const requests::Measurement measured = requests::Measure(runner, clients, runs, options.clients);
  report.requests_per_second =
      1000 * static_cast<double>(measured.latencies.size()) / std::max(measured.total, 1e-6);
}

/// The same requests graph by graph and in turn, in alternating rounds.
void MeasureSwitching(ModelRunner& runner, const std::vector<Target>& targets,
                      const BenchOptions& options, std::vector<GraphReport>& reports) {
  double cycle = 0;
  for (const GraphReport& report : reports) cycle += report.latency.Percentile(50);
  const int per_round = (RunsFor(2 * cycle, options) + kSwitchingRounds - 1) / kSwitchingRounds;
  std::vector<std::vector<double>> repeated(targets.size());
  std::vector<std::vector<double>> alternating(targets.size());
  for (int round = 0; round < kSwitchingRounds; ++round) {
    for (std::size_t i = 0; i < targets.size(); ++i) {
      RunOnce(runner, targets[i]);  // the one that switches
      for (int run = 0; run < per_round; ++run) {
        repeated[i].push_back(RunOnce(runner, targets[i]));
      }
    }
    for (int run = 0; run < per_round; ++run) {
      for (std::size_t i = 0; i < targets.size(); ++i) {
        alternating[i].push_back(RunOnce(runner, targets[i]));
      }
    }
  }
  for (std::size_t i = 0; i < targets.size(); ++i) {
    reports[i].repeated = Median(std::move(repeated[i]));
    reports[i].alternating = Median(std::move(alternating[i]));
  }
}

LoadTimes MeasureLoadParts(const BenchOptions& options) {
  std::vector<double> map;
  std::vector<double> verify;
  std::vector<double> bind;
  for (int i = 0; i < kLoads; ++i) {
    const LoadTimes times = LoadedContainer(options.popef, options.any_package).times();
    map.push_back(times.map);
    verify.push_back(times.verify);
    bind.push_back(times.bind);
  }
  return {.map = Median(map), .verify = Median(verify), .bind = Median(bind)};
}

}  // namespace

std::optional<double> ContainerReport::SwitchingRatio() const {
  double repeated = 0;
  double alternating = 0;
  for (const GraphReport& graph : graphs) {
    repeated += graph.repeated;
    alternating += graph.alternating;
  }
  if (repeated <= 0) return std::nullopt;
  return alternating / repeated;
}

ContainerReport MeasureContainer(const BenchOptions& options) {
  ContainerReport report;
  report.start = CurrentMemoryUse(options.popef);
  runtime::RuntimeConfig config;
  config.checkPackageHash = !options.any_package;
  Stopwatch watch;
  const auto executable = std::make_shared<Executable>(options.popef);
  auto runner = std::make_unique<ModelRunner>(executable, config);
  report.load = watch.Lap();
  report.loaded = CurrentMemoryUse(options.popef);
  report.predictions = PredictionsOf(*executable);
  report.threads = kernels::ProcessThreadPool().size();
  report.instruction_set = kernels::BestInnerLoops().instruction_set;
  const std::vector<std::string> graphs = SelectGraphs(*executable, options);
  const std::vector<Target> targets = MakeTargets(*runner, graphs, options);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    GraphReport& graph = report.graphs.emplace_back();
    graph.graph = graphs[i];
    graph.first_run = RunOnce(*runner, targets[i]);
  }
  report.first_run = CurrentMemoryUse(options.popef);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (!options.outputs.empty()) WriteOutputsOf(*runner, targets[i], options);
    MeasureLatency(*runner, targets[i], options, report.graphs[i]);
    MeasureThroughput(*runner, targets[i], options, report.graphs[i]);
  }
  if (targets.size() > 1) MeasureSwitching(*runner, targets, options, report.graphs);
  report.steady = CurrentMemoryUse(options.popef);
  runner.reset();  // gives its device back
  report.parts = MeasureLoadParts(options);
  return report;
}

}  // namespace poprt::bench
