#include "tests/conformance/runner/loaded_model.hpp"

#include <cstdint>
#include <exception>
#include <map>
#include <sstream>

#include "absl/status/status.h"
#include "compiler/driver/compile.hpp"
#include "popef/Model.hpp"
#include "runtime/device/device_registry.hpp"
#include "runtime/program/container_names.hpp"

namespace poprt::conformance {
namespace {

void IgnoreProgress(const std::string& /*phase*/, int /*done*/, int /*total*/) {}
void IgnoreLog(const std::string& /*message*/) {}

std::unique_ptr<model_runtime::Engine> Load(const std::shared_ptr<std::stringstream>& container) {
  auto reader = std::make_shared<popef::Reader>();
  reader->parseStream(container);
  return std::make_unique<model_runtime::Engine>(popef::ModelBuilder(reader).createModel(),
                                                 device::DeviceRegistry::Get().Acquire(),
                                                 model_runtime::EngineConfig{});
}

}  // namespace

LoadedModel::Interface LoadedModel::InterfaceOf(const ir::Graph& graph, const std::string& prefix) {
  Interface interface {
    .prefix = prefix, .inputs = {}, .outputs = {}
  };
  const auto short_name = [&](const std::string& name) { return name.substr(prefix.size()); };
  for (const ir::ValueId id : graph.inputs) {
    interface.inputs.emplace_back(short_name(graph.value(id).name), graph.type(id));
  }
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    interface.outputs.emplace_back(short_name(graph.output_names[i]), graph.type(graph.outputs[i]));
  }
  return interface;
}

absl::StatusOr<LoadedModel> LoadedModel::Make(driver::Converted converted) {
  LoadedModel model;
  model.fused_ = converted.fused();
  for (std::size_t i = 0; i < converted.graphs.size(); ++i) {
    model.graphs_.push_back(
        InterfaceOf(converted.graphs[i], model.fused_ ? converted.names[i] + "/" : ""));
  }
  const auto container = std::make_shared<std::stringstream>();
  compiler::CompilerOptions options;
  options.allowOutOfMemory = true;  // all models of a suite in one container
  const auto report =
      driver::CompileToStream(std::move(converted), options, *container, IgnoreProgress, IgnoreLog);
  if (!report.ok()) return report.status();
  try {
    model.engine_ = Load(container);
  } catch (const std::exception& error) {
    return absl::InternalError(std::string("loading failed: ") + error.what());
  }
  return model;
}

absl::StatusOr<Tensors> LoadedModel::Run(std::size_t graph, const Tensors& inputs) const {
  const Interface& interface = graphs_[graph];
  const auto index = static_cast<std::uint32_t>(graph);
  std::vector<std::string> names;  // keeps what the buffers' views point to
  names.reserve(interface.inputs.size() + interface.outputs.size());
  std::vector<model_runtime::InputBuffer> in;
  if (fused_) in.push_back({program::kIndexInput, &index, sizeof(index)});
  for (const auto& [name, type] : interface.inputs) {
    const auto at = inputs.find(name);
    if (at == inputs.end())
      return absl::InternalError("there is no value for input '" + name + "'");
    names.push_back(interface.prefix + name);
    in.push_back({names.back(), at->second.data(), at->second.bytes()});
  }
  Tensors results;
  std::map<std::string, std::vector<std::int64_t>> shapes;
  std::vector<model_runtime::OutputBuffer> out;
  for (const auto& [name, type] : interface.outputs) {
    Tensor& result = results.emplace(name, Tensor(type)).first->second;
    names.push_back(interface.prefix + name);
    out.push_back({names.back(), result.mutable_data(), result.bytes(), &shapes[name]});
  }
  try {
    engine_->Execute(in, out);
  } catch (const std::exception& error) {
    return absl::InternalError(std::string("running failed: ") + error.what());
  }
  // A result with an open axis takes the first bytes of its memory.
  for (auto& [name, result] : results) {
    if (result.shape() == shapes[name]) continue;
    result = Tensor({result.element(), shapes[name]}, result.data());
  }
  return results;
}

}  // namespace poprt::conformance
