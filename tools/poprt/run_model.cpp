#include "tools/poprt/run_model.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <new>
#include <random>
#include <span>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "poprt/executable.hpp"
#include "poprt/runtime/model_runner.hpp"
#include "runtime/tensor/half.hpp"

namespace poprt::cli {
namespace {

using Clock = std::chrono::steady_clock;
using runtime::DataDesc;

constexpr int kWarmUps = 2;
constexpr int kFewestIterations = 5;
constexpr int kMostIterations = 200;
constexpr std::chrono::seconds kEnoughTime{1};
constexpr const char* kIndexInput = "index";

// How the device says that it found no room; its exceptions have one type for all failures.
constexpr std::string_view kNoDeviceMemory = "cannot reserve";

using Buffer = std::vector<std::byte>;

template <typename T, typename Next>
void FillWith(Buffer& buffer, Next next) {
  for (std::size_t at = 0; at + sizeof(T) <= buffer.size(); at += sizeof(T)) {
    const T element = static_cast<T>(next());
    std::copy_n(reinterpret_cast<const std::byte*>(&element), sizeof(T), buffer.data() + at);
  }
}

// Floats in [0, 1). Integers and bools are 0 or 1, so that they are valid indices.
void FillRandom(const DataDesc& desc, std::mt19937& random, Buffer& buffer) {
  const auto real = [&] { return std::uniform_real_distribution<float>(0, 1)(random); };
  const auto bit = [&] { return random() & 1U; };
  switch (desc.dataType) {
    case popef::DataType::F32:
      return FillWith<float>(buffer, real);
    case popef::DataType::F64:
      return FillWith<double>(buffer, real);
    case popef::DataType::F16:
      return FillWith<std::uint16_t>(buffer, [&] { return Float16(real()).bits; });
    case popef::DataType::BF16:
      return FillWith<std::uint16_t>(buffer, [&] { return BFloat16(real()).bits; });
    case popef::DataType::S16:
    case popef::DataType::U16:
      return FillWith<std::uint16_t>(buffer, bit);
    case popef::DataType::S32:
    case popef::DataType::U32:
      return FillWith<std::uint32_t>(buffer, bit);
    case popef::DataType::S64:
    case popef::DataType::U64:
      return FillWith<std::uint64_t>(buffer, bit);
    default:
      return FillWith<std::uint8_t>(buffer, bit);
  }
}

std::vector<DataDesc> TensorsOf(std::vector<DataDesc> descs, const std::string& graph) {
  const std::string prefix = graph.empty() ? "" : graph + "/";
  std::erase_if(descs, [&](const DataDesc& desc) {
    return !desc.name.starts_with(prefix) || (!graph.empty() && desc.name == kIndexInput);
  });
  return descs;
}

// One request's memory and the views that name it.
struct Request {
  std::vector<Buffer> buffers;
  runtime::InputMemoryView inputs;
  runtime::OutputMemoryView outputs;
};

Request MakeRequest(std::span<const DataDesc> inputs, std::span<const DataDesc> outputs) {
  Request request;
  std::mt19937 random(1);
  for (const DataDesc& desc : inputs) {
    Buffer& buffer = request.buffers.emplace_back(static_cast<std::size_t>(desc.sizeInBytes));
    FillRandom(desc, random, buffer);
    request.inputs[desc.name] = {buffer.data(), buffer.size()};
  }
  for (const DataDesc& desc : outputs) {
    Buffer& buffer = request.buffers.emplace_back(static_cast<std::size_t>(desc.sizeInBytes));
    request.outputs[desc.name] = {buffer.data(), buffer.size()};
  }
  return request;
}

double OneRequestMs(runtime::ModelRunner& runner, Request& request) {
  const auto start = Clock::now();
  runner.execute(request.inputs, request.outputs);
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

RunReport RunGraph(runtime::ModelRunner& runner, const std::string& graph) {
  const std::vector<DataDesc> inputs = TensorsOf(runner.getExecuteInputs(), graph);
  const std::vector<DataDesc> outputs = TensorsOf(runner.getExecuteOutputs(), graph);
  Request request = MakeRequest(inputs, outputs);
  for (int i = 0; i < kWarmUps; ++i) OneRequestMs(runner, request);
  std::vector<double> latencies;
  const auto start = Clock::now();
  while (static_cast<int>(latencies.size()) < kFewestIterations ||
         (static_cast<int>(latencies.size()) < kMostIterations &&
          Clock::now() - start < kEnoughTime)) {
    latencies.push_back(OneRequestMs(runner, request));
  }
  std::ranges::sort(latencies);
  RunReport report;
  report.graph = graph;
  report.iterations = static_cast<int>(latencies.size());
  report.latency_ms = latencies[latencies.size() / 2];
  if (!inputs.empty() && !inputs[0].shape.empty()) report.batch_size = inputs[0].shape[0];
  if (report.latency_ms > 0) {
    report.throughput = static_cast<double>(report.batch_size) * 1000 / report.latency_ms;
  }
  return report;
}

absl::Status TooLarge(const std::string& what) {
  return absl::ResourceExhaustedError(
      absl::StrCat("the model is too large to run on this machine: ", what,
                   "; reduce the shapes of its inputs with --input_shape or --batch_size"));
}

}  // namespace

absl::StatusOr<std::vector<RunReport>> RunContainer(const ContainerSource& container,
                                                    const std::vector<std::string>& graphs) {
  try {
    const auto executable = std::visit(
        [](const auto& source) { return std::make_shared<Executable>(source); }, container);
    runtime::ModelRunner runner(executable);
    std::vector<RunReport> reports;
    if (graphs.empty()) reports.push_back(RunGraph(runner, ""));
    for (const std::string& graph : graphs) reports.push_back(RunGraph(runner, graph));
    return reports;
  } catch (const std::bad_alloc&) {
    return TooLarge("there is not enough memory for inputs and outputs");
  } catch (const std::exception& error) {
    const std::string_view what = error.what();
    if (what.find(kNoDeviceMemory) != std::string_view::npos) return TooLarge(error.what());
    return absl::InternalError(absl::StrCat("running the compiled model failed: ", error.what()));
  }
}

}  // namespace poprt::cli
