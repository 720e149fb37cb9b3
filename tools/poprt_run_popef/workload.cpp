#include "tools/poprt_run_popef/workload.hpp"

#include <unistd.h>

#include <algorithm>
#include <limits>
#include <random>
#include <stdexcept>
#include <utility>

#include "poprt/executable.hpp"
#include "poprt/runtime/lightrunner.hpp"
#include "poprt/runtime/model_runner.hpp"
#include "poprt/runtime/pack_runner.hpp"
#include "tools/requests/fused_graphs.hpp"

namespace poprt::run_popef {
namespace {

using requests::FillOnes;
using requests::FillRandom;
using requests::GraphsOf;
using requests::Request;
using requests::TensorsOf;
using runtime::DataDesc;

/// Entries of different lengths for each thread of a pack runner.
constexpr int kEntriesPerThread = 16;

/// The graph that --index selects; empty for a model that is not fused.
std::string SelectGraph(const Executable& executable, const RunOptions& options) {
  if (!executable.isFused()) {
    if (!options.index) return "";
    throw std::runtime_error("--index " + std::to_string(*options.index) +
                             " selects a graph, but the container has one model: leave it out");
  }
  const std::vector<std::string> graphs = GraphsOf(executable);
  const auto index = static_cast<std::size_t>(options.index.value_or(0));
  if (index >= graphs.size()) {
    throw std::runtime_error("--index is " + std::to_string(index) + ", allowed are 0 to " +
                             std::to_string(graphs.size() - 1));
  }
  return graphs[index];
}

/// The rows that all tensors have as their first dimension; 0 if they differ.
std::int64_t RowsOf(const std::vector<DataDesc>& descs) {
  std::int64_t rows = -1;
  for (const DataDesc& desc : descs) {
    const std::int64_t first = desc.shape.empty() ? 0 : desc.shape[0];
    if (rows != -1 && rows != first) return 0;
    rows = first;
  }
  return std::max(rows, std::int64_t{0});
}

/// The size of requests as a multiple of the model's tensors.
struct Scale {
  std::int64_t samples = 1;  ///< of a request
  std::int64_t multiple = 1;
  std::int64_t divisor = 1;  ///< more than 1 needs a batching dimension
};

Scale ScaleOf(const std::vector<DataDesc>& inputs, const std::vector<DataDesc>& outputs,
              const RunOptions& options) {
  const auto first = std::find_if(inputs.begin(), inputs.end(),
                                  [](const DataDesc& input) { return !input.shape.empty(); });
  const std::int64_t batch = first == inputs.end() ? 1 : first->shape[0];
  const std::int64_t samples = options.batch_size.value_or(batch);
  if (samples == batch) return {samples, 1, 1};
  if (batch > 0 && samples % batch == 0) return {samples, samples / batch, 1};
  std::vector<DataDesc> all = inputs;
  all.insert(all.end(), outputs.begin(), outputs.end());
  if (batch > 0 && RowsOf(all) == batch && options.runner != Runner::kLight) {
    return {samples, samples, batch};
  }
  throw std::runtime_error("--batchSize is " + std::to_string(samples) +
                           ", allowed are multiples of the model's batch, " +
                           std::to_string(batch));
}

DataDesc Scaled(DataDesc desc, const Scale& scale) {
  desc.sizeInBytes /= scale.divisor;
  if (desc.sizeInBytes > std::numeric_limits<std::int64_t>::max() / scale.multiple) {
    throw std::runtime_error("--batchSize " + std::to_string(scale.samples) + " makes tensor '" +
                             desc.name + "' too large");
  }
  desc.sizeInBytes *= scale.multiple;
  return desc;
}

/// Before the system ends the process for it.
void CheckMemory(const std::vector<DataDesc>& inputs, const std::vector<DataDesc>& outputs,
                 const Scale& scale, int threads) {
  double bytes = 0;
  for (const auto* descs : {&inputs, &outputs}) {
    for (const DataDesc& desc : *descs)
      bytes += static_cast<double>(Scaled(desc, scale).sizeInBytes);
  }
  const double memory =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (bytes * threads < memory) return;
  throw std::runtime_error(
      "the tensors of the requests take more memory than there is: reduce --batchSize or "
      "--numThreads");
}

Request MakeRequest(const std::vector<DataDesc>& inputs, const std::vector<DataDesc>& outputs,
                    const RunOptions& options, const Scale& scale, std::uint32_t seed) {
  Request request;
  for (const DataDesc& input : inputs) {
    const auto memory = request.AddInput(Scaled(input, scale));
    if (!options.zeros) FillRandom(input.dataType, seed++, memory);
  }
  for (const DataDesc& output : outputs) request.AddOutput(Scaled(output, scale));
  return request;
}

std::unique_ptr<runtime::BaseRunner> MakeModelRunner(const std::shared_ptr<Executable>& executable,
                                                     const RunOptions& options, bool batching) {
  if (options.runner == Runner::kLight) {
    runtime::LightRunnerConfig config;
    config.checkPackageHash = !options.any_package;
    return std::make_unique<runtime::LightRunner>(executable, config);
  }
  runtime::RuntimeConfig config;
  config.checkPackageHash = !options.any_package;
  if (batching) config.batchingDim = 0;
  return std::make_unique<runtime::ModelRunner>(executable, config);
}

Workload MakeModelWorkload(const RunOptions& options) {
  const auto executable = std::make_shared<Executable>(options.popef);
  Workload workload;
  workload.graph = SelectGraph(*executable, options);
  workload.runner = MakeModelRunner(executable, options, false);
  const auto inputs = TensorsOf(workload.runner->getExecuteInputs(), workload.graph);
  const auto outputs = TensorsOf(workload.runner->getExecuteOutputs(), workload.graph);
  const Scale scale = ScaleOf(inputs, outputs, options);
  CheckMemory(inputs, outputs, scale, options.threads);
  if (scale.divisor > 1) {
    workload.runner.reset();  // gives its device back
    workload.runner = MakeModelRunner(executable, options, true);
  }
  workload.samples = scale.samples;
  for (int thread = 0; thread < options.threads; ++thread) {
    workload.requests.push_back(MakeRequest(inputs, outputs, options, scale, 1000 * thread + 1));
  }
  return workload;
}

/// Requests of random lengths.
Workload MakePackWorkload(const RunOptions& options) {
  runtime::PackRunnerConfig config(options.pack_timeout_us, options.max_valid_num,
                                   options.dynamic_input_name);
  if (!options.mask_name.empty()) config.enableSingleRowMode(options.mask_name);
  auto runner = std::make_unique<runtime::PackRunner>(options.popef, config);
  Workload workload;
  workload.samples = options.batch_size.value_or(1);
  std::mt19937 random(1);
  for (int i = 0; i < options.threads * kEntriesPerThread; ++i) {
    const std::int64_t tokens = 1 + static_cast<std::int64_t>(random() % runner->longestEntry());
    Request request;
    std::uint32_t seed = random();
    for (const DataDesc& input : runner->entryInputs(tokens)) {
      const auto memory = request.AddInput(input);
      if (input.name == options.mask_name) {
        FillOnes(input.dataType, memory);
      } else if (!options.zeros) {
        FillRandom(input.dataType, seed++, memory);
      }
    }
    for (const DataDesc& output : runner->outputsFor(request.inputs)) request.AddOutput(output);
    workload.requests.push_back(std::move(request));
  }
  workload.runner = std::move(runner);
  return workload;
}

}  // namespace

std::string NameOf(Runner runner) {
  switch (runner) {
    case Runner::kModel:
      return "modelRunner";
    case Runner::kLight:
      return "lightRunner";
    case Runner::kPack:
      return "packRunner";
    case Runner::kHostConcat:
      break;
  }
  return "hostConcatRunner";
}

Workload MakeWorkload(const RunOptions& options) {
  return options.runner == Runner::kPack ? MakePackWorkload(options) : MakeModelWorkload(options);
}

}  // namespace poprt::run_popef
