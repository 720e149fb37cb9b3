#include "tests/conformance/runner/run_case.hpp"

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "compiler/frontend/import.hpp"

namespace poprt::conformance {
namespace {

/// Beyond so many inputs that may determine a shape, not every subset of them is tried.
constexpr std::size_t kMostCandidates = 6;

Outcome Passed() { return {.verdict = Verdict::kPassed, .reason = ""}; }

Outcome Failed(std::string reason) {
  return {.verdict = Verdict::kFailed, .reason = std::move(reason)};
}

/// What a status of the compiler means for the case, in one line.
Outcome Refused(const absl::Status& status) {
  const bool is_ours = status.code() == absl::StatusCode::kInternal;
  std::string reason(status.message());
  std::replace(reason.begin(), reason.end(), '\n', ' ');
  return {.verdict = is_ours ? Verdict::kFailed : Verdict::kNotSupported,
          .reason = std::move(reason)};
}

driver::ModelOptions ModelOf(const CaseData& data, const CaseValues& values,
                             const std::set<std::string>& frozen) {
  driver::ModelOptions model;
  model.path = data.path;
  // Types are compared: they must stay what the model says.
  model.skip_passes = {"int64_to_int32", "double_to_float"};
  for (const std::string& name : frozen) model.freeze_input.emplace(name, values.inputs.at(name));
  for (const CaseInput& input : data.inputs) {
    if (!input.is_open || frozen.count(input.name) > 0) continue;
    model.input_shape.emplace(input.name, values.inputs.at(input.name).tensor()->shape());
  }
  return model;
}

absl::StatusOr<driver::Converted> Convert(const std::vector<driver::ModelOptions>& models,
                                          bool fuse) {
  return driver::Convert(
      models, fuse, [](const std::string&, int, int) {}, [](const std::string&) {});
}

absl::StatusOr<LoadedModel> CompileAlone(const CaseData& data, const CaseValues& values,
                                         const std::set<std::string>& frozen) {
  auto converted = Convert({ModelOf(data, values, frozen)}, /*fuse=*/false);
  if (!converted.ok()) return converted.status();
  return LoadedModel::Make(*std::move(converted));
}

/// Sets of inputs to freeze, smaller ones first. All inputs are never frozen: that is folding.
std::vector<std::set<std::string>> FreezeChoices(const CaseData& data) {
  std::set<std::string> always;
  std::vector<std::string> candidates;
  for (const CaseInput& input : data.inputs) {
    if (input.must_freeze) {
      always.insert(input.name);
    } else if (input.may_freeze) {
      candidates.push_back(input.name);
    }
  }
  std::vector<std::set<std::string>> choices;
  const std::size_t subsets = std::size_t{1} << std::min(candidates.size(), kMostCandidates);
  for (std::size_t subset = 0; subset < subsets; ++subset) {
    std::set<std::string> choice = always;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if ((subset >> i & 1U) != 0) choice.insert(candidates[i]);
    }
    if (data.inputs.empty() || choice.size() < data.inputs.size()) choices.push_back(choice);
  }
  std::stable_sort(choices.begin(), choices.end(),
                   [](const auto& a, const auto& b) { return a.size() < b.size(); });
  return choices;
}

/// What differs between the outputs of a run and the stored ones; empty if nothing.
std::string CompareAll(const Tensors& got, const HostValues& stored, const Tolerance& tolerance) {
  const absl::StatusOr<Tensors> wanted = TensorsOf(stored);
  if (!wanted.ok()) return std::string(wanted.status().message());
  for (const auto& [name, tensor] : *wanted) {
    const auto at = got.find(name);
    if (at == got.end()) return "there is no output '" + name + "'";
    const std::string difference = Difference(at->second, tensor, tolerance);
    if (!difference.empty()) return "output '" + name + "' " + difference;
  }
  if (got.size() != wanted->size()) {
    return "has " + std::to_string(got.size()) + " outputs, expected " +
           std::to_string(wanted->size());
  }
  return "";
}

/// The inputs that are tensors; others are frozen.
Tensors RuntimeInputs(const CaseValues& values, const std::set<std::string>& frozen) {
  HostValues inputs = values.inputs;
  for (const std::string& name : frozen) inputs.erase(name);
  return TensorsOf(inputs).value_or(Tensors{});
}

/// The results of one data set with those inputs frozen.
absl::StatusOr<Tensors> RunAlone(const CaseData& data, const CaseValues& values,
                                 const std::set<std::string>& frozen) {
  const absl::StatusOr<LoadedModel> model = CompileAlone(data, values, frozen);
  if (!model.ok()) return model.status();
  return model->Run(0, RuntimeInputs(values, frozen));
}

/// What differs between a model whose outputs are constants, or exist when importing only, and the
/// stored values. Unimplemented when an output is neither.
absl::StatusOr<std::string> CompareConstants(const frontend::ImportedModel& imported,
                                             HostValues stored, const Tolerance& tolerance) {
  const ir::Graph& graph = imported.graph;
  Tensors constants;
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const Tensor* constant = graph.ConstantOf(graph.outputs[i]);
    if (constant == nullptr) {
      return absl::UnimplementedError("output '" + graph.output_names[i] +
                                      "' is not folded to a constant");
    }
    constants.emplace(graph.output_names[i], *constant);
  }
  for (const auto& [name, value] : imported.host_outputs) {
    const auto at = stored.find(name);
    if (at == stored.end() || at->second.strings() == nullptr || value.strings() == nullptr ||
        *at->second.strings() != *value.strings()) {
      return "output '" + name + "' does not hold the strings expected";
    }
    stored.erase(at);
  }
  return CompareAll(constants, stored, tolerance);
}

}  // namespace

SoloRun RunSolo(const CaseData& data, const Tolerance& tolerance) {
  SoloRun run;
  std::vector<std::set<std::string>> choices = FreezeChoices(data);
  if (choices.empty()) {
    run.outcome.reason = "every input must be known when compiling";
    return run;
  }
  absl::Status first_refusal;
  for (const std::set<std::string>& frozen : choices) {
    const absl::StatusOr<Tensors> outputs = RunAlone(data, data.data.front(), frozen);
    if (outputs.ok()) {
      run.frozen = frozen;
      run.outputs.push_back(*outputs);
      break;
    }
    if (first_refusal.ok()) first_refusal = outputs.status();
  }
  if (run.outputs.empty()) {
    run.outcome = Refused(first_refusal);
    return run;
  }
  for (std::size_t i = 0; i < data.data.size(); ++i) {
    const CaseValues& values = data.data[i];
    if (i > 0) {
      absl::StatusOr<Tensors> outputs = RunAlone(data, values, run.frozen);
      if (!outputs.ok()) {
        run.outcome = Refused(outputs.status());
        return run;
      }
      run.outputs.push_back(*std::move(outputs));
    }
    const std::string difference = CompareAll(run.outputs[i], values.outputs, tolerance);
    if (!difference.empty()) {
      run.outcome = Failed(difference);
      return run;
    }
  }
  run.outcome = Passed();
  return run;
}

Outcome RunFolded(const CaseData& data, const Tolerance& tolerance) {
  for (const CaseValues& values : data.data) {
    frontend::ImportOptions options;
    for (const auto& [name, value] : values.inputs) options.frozen_inputs.emplace(name, value);
    const auto imported = frontend::ImportOnnxFile(data.path, options);
    if (!imported.ok()) return Refused(imported.status());
    const auto difference = CompareConstants(*imported, values.outputs, tolerance);
    if (!difference.ok()) return Refused(difference.status());
    if (!difference->empty()) return Failed(*difference);
  }
  return Passed();
}

std::vector<Outcome> RunFused(const std::vector<FusedCase>& cases) {
  std::vector<driver::ModelOptions> models;
  for (const FusedCase& one : cases) {
    models.push_back(ModelOf(*one.data, one.data->data.front(), one.solo->frozen));
  }
  auto converted = Convert(models, /*fuse=*/true);
  if (!converted.ok()) return std::vector<Outcome>(cases.size(), Refused(converted.status()));
  const absl::StatusOr<LoadedModel> model = LoadedModel::Make(*std::move(converted));
  if (!model.ok()) return std::vector<Outcome>(cases.size(), Refused(model.status()));
  std::vector<Outcome> outcomes;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const FusedCase& one = cases[i];
    const auto outputs = model->Run(i, RuntimeInputs(one.data->data.front(), one.solo->frozen));
    if (!outputs.ok()) {
      outcomes.push_back(Failed(std::string(outputs.status().message())));
    } else if (*outputs != one.solo->outputs.front()) {
      outcomes.push_back(Failed("the outputs are not the bits of the solo run"));
    } else {
      outcomes.push_back(Passed());
    }
  }
  return outcomes;
}

}  // namespace poprt::conformance
