#include "poprt/compiler/compiler.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/driver/compile.hpp"
#include "compiler/driver/convert.hpp"
#include "compiler/driver/ipu_plan.hpp"
#include "compiler/frontend/proto/npy_file.hpp"
#include "compiler/ipu/report/summary_report.hpp"

namespace poprt::compiler {
namespace {

void Throw(const absl::Status& status) { throw std::runtime_error(std::string(status.message())); }

std::map<std::string, frontend::FrozenInput> FrozenOf(const ModelInputs& inputs,
                                                      const std::string& label) {
  std::map<std::string, frontend::FrozenInput> frozen;
  std::string problems;
  for (const auto& [name, input] : inputs.frozen) {
    if (!input.npy) {
      frozen.emplace(name, frontend::FrozenFile{input.path});
      continue;
    }
    auto value = frontend::ParseNpy(*input.npy);
    if (value.ok()) {
      frozen.emplace(name, *std::move(value));
    } else {
      absl::StrAppend(&problems, problems.empty() ? "" : "\n", label, ": input '", name,
                      "' cannot be frozen: the given value ", value.status().message());
    }
  }
  if (!problems.empty()) throw std::runtime_error(problems);
  return frozen;
}

/// A path names a file; the bytes of a ModelProto hardly ever do, and are too long for one.
driver::ModelOptions ModelOf(const std::string& model, const CompilerOptions& compiler_options,
                             const ModelInputs& inputs) {
  constexpr std::size_t longest_path = 4096;
  driver::ModelOptions options;
  std::error_code ignored;
  const bool is_path = model.size() < longest_path && model.find('\0') == std::string::npos &&
                       (std::filesystem::exists(model, ignored) || model.ends_with(".onnx"));
  (is_path ? options.path : options.bytes) = model;
  // compile() takes the model as it is: what a converter decided stays.
  options.skip_passes = {"int64_to_int32", "double_to_float"};
  options.constant_weights = compiler_options.constantWeights;
  for (const auto& [name, shape] : inputs.shapes) {
    options.input_shape.emplace(name, Shape(shape.begin(), shape.end()));
  }
  options.freeze_input = FrozenOf(inputs, is_path ? model : "model");
  return options;
}

/// Restricts the outputs to those named.
void KeepOutputs(ir::Graph& graph, const std::vector<std::string>& wanted) {
  if (wanted.empty()) return;
  std::string unknown;
  for (const std::string& name : wanted) {
    const auto& names = graph.output_names;
    if (std::find(names.begin(), names.end(), name) == names.end()) unknown += " '" + name + "'";
  }
  if (!unknown.empty()) {
    std::string known;
    for (const std::string& name : graph.output_names) known += " '" + name + "'";
    throw std::runtime_error("the model has no output" + unknown + ", its outputs are" + known);
  }
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    if (std::find(wanted.begin(), wanted.end(), graph.output_names[i]) != wanted.end()) {
      kept.push_back(i);
    }
  }
  graph.SelectOutputs(kept);
  graph.Compact();
}

driver::Progress ProgressOf(const CompilerOptions& options) {
  if (!options.compilationProgressLogger) return [](const std::string&, int, int) {};
  return [logger = options.compilationProgressLogger](const std::string&, int done, int total) {
    logger(done, total);
  };
}

void Ignore(const std::string&) {}

driver::Converted ConvertModel(const std::string& model, const std::vector<std::string>& outputs,
                               const CompilerOptions& options, const ModelInputs& inputs) {
  auto converted = driver::Convert(
      {ModelOf(model, options, inputs)}, /*fuse=*/false, [](const std::string&, int, int) {},
      Ignore);
  if (!converted.ok()) Throw(converted.status());
  KeepOutputs(converted->graphs.front(), outputs);
  return *std::move(converted);
}

driver::CompileReport CompileToStream(const std::string& model,
                                      const std::vector<std::string>& outputs, std::ostream& out,
                                      const CompilerOptions& options, const ModelInputs& inputs) {
  auto report = driver::CompileToStream(ConvertModel(model, outputs, options, inputs), options, out,
                                        ProgressOf(options), Ignore);
  if (!report.ok()) Throw(report.status());
  return *std::move(report);
}

}  // namespace

std::shared_ptr<Executable> Compiler::compile(const std::string& model,
                                              const std::vector<std::string>& outputs,
                                              const CompilerOptions& options,
                                              const ModelInputs& inputs) {
  auto stream = std::make_shared<std::stringstream>();
  CompileToStream(model, outputs, *stream, options, inputs);
  return std::make_shared<Executable>(stream);
}

void Compiler::compileAndExport(const std::string& model, const std::vector<std::string>& outputs,
                                std::ostream& out, const CompilerOptions& options,
                                const ModelInputs& inputs) {
  CompileToStream(model, outputs, out, options, inputs);
}

void Compiler::compileAndExport(const std::string& model, const std::vector<std::string>& outputs,
                                const std::string& filename, const CompilerOptions& options,
                                const ModelInputs& inputs) {
  const auto report = driver::CompileToFile(ConvertModel(model, outputs, options, inputs), options,
                                            filename, ProgressOf(options), Ignore);
  if (!report.ok()) Throw(report.status());
}

std::string Compiler::compileAndGetSummaryReport(const std::string& model,
                                                 const std::vector<std::string>& outputs,
                                                 const CompilerOptions& options,
                                                 bool /*resetProfile*/, const ModelInputs& inputs) {
  const auto plan =
      driver::PlanForIpu(ConvertModel(model, outputs, options, inputs), options, Ignore);
  if (!plan.ok()) Throw(plan.status());
  return ipu::SummaryReport(*plan);
}

}  // namespace poprt::compiler
