#include "model_runtime/serving/request_router.hpp"

#include <map>
#include <optional>
#include <set>

#include "model_runtime/Errors.hpp"
#include "model_runtime/serving/index_input.hpp"
#include "model_runtime/serving/sort_by_name.hpp"
#include "runtime/program/container_names.hpp"

namespace model_runtime {
namespace {

using poprt::program::Branch;
using poprt::program::Stream;

/// Before the first tensor has told.
constexpr std::uint64_t kUnknownRows = 0;

std::string Quoted(std::string_view name) { return "'" + std::string(name) + "'"; }

std::string NamesOf(const Branch& branch, const std::vector<Stream>& streams) {
  std::string names;
  for (const Stream& stream : streams) names += (names.empty() ? "" : ", ") + stream.name;
  return names.empty() ? "none of '" + branch.name + "'" : names;
}

std::string WithoutMemory(const std::string& kind, std::string_view name) {
  return kind + Quoted(name) + " has no memory";
}

}  // namespace

/// Everything that is wrong with a request, in the order of discovery.
class RequestRouter::Problems {
 public:
  void Add(const std::string& problem) { text_ += (text_.empty() ? "" : "\n") + problem; }
  void Throw() const {
    if (!text_.empty()) throw Error(text_);
  }
  bool empty() const { return text_.empty(); }

 private:
  std::string text_;
};

RequestRouter::RequestRouter(const poprt::program::Program& program, bool fused, bool validate)
    : program_(program), fused_(fused), validate_(validate), frozen_(program.branches.size()) {
  // Names first: a graph that is called "graph0" but is not the first keeps its name.
  for (std::size_t b = 0; b < program.branches.size(); ++b) AddNames(b);
  for (std::size_t b = 0; fused && b < program.branches.size(); ++b) AddNumberedNames(b);
}

void RequestRouter::AddNames(std::size_t index) {
  const Branch& branch = program_.branches[index];
  const auto add = [&](const std::vector<Stream>& streams, bool is_input) {
    for (std::size_t i = 0; i < streams.size(); ++i) {
      const poprt::TensorType& type = branch.slots[streams[i].slot].type;
      tensors_.emplace(streams[i].name, Tensor{.branch = index,
                                               .position = i,
                                               .bytes = type.bytes(),
                                               .unit_bytes = type.bytes(),
                                               .repeats = false,
                                               .type = poprt::ToString(type),
                                               .is_input = is_input});
    }
  };
  add(branch.inputs, true);
  add(branch.outputs, false);
  frozen_[index].resize(branch.inputs.size());
}

void RequestRouter::AddNumberedNames(std::size_t index) {
  const Branch& branch = program_.branches[index];
  const std::string prefix = branch.name + "/";
  const std::string numbered = "graph" + std::to_string(index) + "/";
  for (const auto* streams : {&branch.inputs, &branch.outputs}) {
    for (const Stream& stream : *streams) {
      if (!stream.name.starts_with(prefix)) continue;
      tensors_.try_emplace(numbered + stream.name.substr(prefix.size()), tensors_.at(stream.name));
    }
  }
}

void RequestRouter::UseRows(const BatchPlan& plan) {
  plan_ = &plan;
  for (auto& [name, tensor] : tensors_) {
    const BatchPlan::Branch& branch = plan.branch(tensor.branch);
    const auto& layout = (tensor.is_input ? branch.inputs : branch.outputs)[tensor.position];
    tensor.repeats = !layout;
    if (layout) tensor.unit_bytes = layout->outer * layout->row_bytes;
  }
}

void RequestRouter::Freeze(const InputBuffer& memory) {
  Problems problems;
  if (fused_ && memory.name == poprt::program::kIndexInput) {
    BranchOfIndex(memory, problems);
    problems.Throw();
    frozen_index_ = {poprt::program::kIndexInput, memory.data, memory.bytes};
    return;
  }
  const Tensor* tensor = Find(memory.name);
  if (tensor == nullptr || !tensor->is_input) {
    throw Error("frozen input " + Quoted(memory.name) + " is not an input of the model");
  }
  Route route;
  route.rows = kUnknownRows;
  SetRows(memory.name, *tensor, memory.bytes, route, problems);
  if (memory.data == nullptr) problems.Add(WithoutMemory("input ", memory.name));
  problems.Throw();
  frozen_[tensor->branch][tensor->position] = {CanonicalName(memory.name), memory.data,
                                               memory.bytes};
}

const RequestRouter::Tensor* RequestRouter::Find(std::string_view name) const {
  const auto at = tensors_.find(name);
  return at == tensors_.end() ? nullptr : &at->second;
}

std::optional<RequestRouter::Place> RequestRouter::Locate(std::string_view name) const {
  const Tensor* tensor = Find(name);
  if (tensor == nullptr) return std::nullopt;
  return Place{tensor->branch, tensor->is_input, tensor->position};
}

std::string_view RequestRouter::CanonicalName(std::string_view name) const {
  const Tensor* tensor = Find(name);
  if (tensor == nullptr) return name;
  const Branch& branch = program_.branches[tensor->branch];
  return (tensor->is_input ? branch.inputs : branch.outputs)[tensor->position].name;
}

std::size_t RequestRouter::BranchOfIndex(const InputBuffer& index, Problems& problems) const {
  const IndexedGraph graph = GraphOfIndex(index, program_.branches.size());
  if (!graph.problem.empty()) problems.Add(graph.problem);
  return graph.index;
}

std::size_t RequestRouter::SelectBranch(std::span<const InputBuffer> inputs,
                                        std::span<const OutputBuffer> outputs,
                                        Problems& problems) const {
  if (!fused_) return 0;
  for (const InputBuffer& input : inputs) {
    if (input.name == poprt::program::kIndexInput) return BranchOfIndex(input, problems);
  }
  if (frozen_index_.data != nullptr) return BranchOfIndex(frozen_index_, problems);
  return BranchOfTensors(inputs, outputs, problems);
}

std::size_t RequestRouter::BranchOfTensors(std::span<const InputBuffer> inputs,
                                           std::span<const OutputBuffer> outputs,
                                           Problems& problems) const {
  std::optional<std::size_t> branch;
  bool mixed = false;
  const auto visit = [&](std::string_view name) {
    const Tensor* tensor = Find(name);
    if (tensor == nullptr) return;
    mixed = mixed || (branch && *branch != tensor->branch);
    branch = tensor->branch;
  };
  for (const InputBuffer& input : inputs) visit(input.name);
  for (const OutputBuffer& output : outputs) visit(output.name);
  if (mixed) {
    problems.Add(MixedGraphs(inputs, outputs));
    return 0;
  }
  if (branch) return *branch;
  problems.Add("the request gives neither 'index' nor a tensor of any graph");
  for (const InputBuffer& input : inputs) problems.Add(Unknown(input.name, true, 0));
  for (const OutputBuffer& output : outputs) problems.Add(Unknown(output.name, false, 0));
  return 0;
}

std::string RequestRouter::MixedGraphs(std::span<const InputBuffer> inputs,
                                       std::span<const OutputBuffer> outputs) const {
  std::map<std::size_t, std::set<std::string_view>> names;
  const auto visit = [&](std::string_view name) {
    if (const Tensor* tensor = Find(name)) names[tensor->branch].insert(name);
  };
  for (const InputBuffer& input : inputs) visit(input.name);
  for (const OutputBuffer& output : outputs) visit(output.name);
  std::string text = "the request mixes tensors of several graphs, give those of one:";
  for (const auto& [branch, given] : names) {
    text += "\n  graph " + std::to_string(branch) + " '" + program_.branches[branch].name + "': ";
    std::string separator;
    for (const std::string_view name : given) {
      text += separator + std::string(name);
      separator = ", ";
    }
  }
  return text;
}

std::string RequestRouter::NamesWithPrefix(std::string_view name, bool is_input) const {
  std::string names;
  if (!fused_) return names;
  for (const Branch& branch : program_.branches) {
    for (const Stream& stream : is_input ? branch.inputs : branch.outputs) {
      if (stream.name != branch.name + "/" + std::string(name)) continue;
      names += (names.empty() ? "" : " or ") + Quoted(stream.name);
    }
  }
  return names;
}

std::string RequestRouter::Unknown(std::string_view name, bool is_input, std::size_t branch) const {
  const std::string kind = is_input ? "input " : "output ";
  const std::string problem = kind + Quoted(name) + " does not exist, ";
  if (const std::string names = NamesWithPrefix(name, is_input); !names.empty()) {
    return problem + "names of a fused model start with the graph: write " + names;
  }
  const Branch& selected = program_.branches[branch];
  return problem + kind + "names " + (fused_ ? "of graph '" + selected.name + "' " : "") +
         "are: " + NamesOf(selected, is_input ? selected.inputs : selected.outputs);
}

const RequestRouter::Tensor* RequestRouter::Check(std::string_view name, bool is_input,
                                                  std::size_t branch, Problems& problems) const {
  const std::string kind = is_input ? "input " : "output ";
  const Tensor* tensor = Find(name);
  const Branch& selected = program_.branches[branch];
  if (tensor == nullptr) {
    if (validate_) problems.Add(Unknown(name, is_input, branch));
    return nullptr;
  }
  if (tensor->is_input != is_input) {
    problems.Add(Quoted(name) + " is an " + (tensor->is_input ? "input" : "output") +
                 " of the model, but the request gives it as an " +
                 (is_input ? "input" : "output"));
    return nullptr;
  }
  if (tensor->branch != branch) {
    problems.Add(kind + Quoted(name) + " belongs to graph " + std::to_string(tensor->branch) +
                 " '" + program_.branches[tensor->branch].name + "', but the request runs graph " +
                 std::to_string(branch) + " '" + selected.name + "'");
    return nullptr;
  }
  return tensor;
}

void RequestRouter::SetRows(std::string_view name, const Tensor& tensor, std::uint64_t bytes,
                            Route& route, Problems& problems) const {
  const std::uint64_t unit = tensor.unit_bytes;
  const bool fits =
      unit == 0 || tensor.repeats ? bytes == tensor.bytes : bytes > 0 && bytes % unit == 0;
  if (!fits) {
    problems.Add((tensor.is_input ? "input " : "output ") + Quoted(name) + " has " +
                 std::to_string(bytes) + " bytes, allowed are " +
                 (unit == tensor.bytes || tensor.repeats
                      ? std::to_string(tensor.bytes) + " (" + tensor.type + ")"
                      : std::to_string(unit) + " (a row of " + tensor.type + " along dimension " +
                            std::to_string(plan_->dim()) + ")") +
                 (tensor.repeats ? "" : " or a multiple"));
    return;
  }
  if (unit == 0 || tensor.repeats) return;
  const std::uint64_t rows = bytes / unit;
  if (route.rows == kUnknownRows) route.rows = rows;
  if (rows != route.rows) {
    problems.Add((tensor.is_input ? "input " : "output ") + Quoted(name) + " has " +
                 std::to_string(rows) + (plan_ == nullptr ? " batches" : " rows") +
                 ", but the request's first tensor has " + std::to_string(route.rows));
  }
}

void RequestRouter::TakeInput(const InputBuffer& input, const Tensor& tensor, Route& route,
                              Problems& problems) const {
  SetRows(input.name, tensor, input.bytes, route, problems);
  if (tensor.repeats) {
    problems.Add("input " + Quoted(input.name) +
                 " is frozen, and with batching_dim requests share it: leave it out");
  }
  if (input.data == nullptr && input.bytes > 0) {
    problems.Add(WithoutMemory("input ", input.name));
  }
  route.given[tensor.position] = true;
  route.repeats[tensor.position] = tensor.repeats;
  route.inputs[tensor.position] = input.data;
}

void RequestRouter::MatchInputs(std::span<const InputBuffer> inputs, Route& route,
                                Problems& problems) const {
  const Branch& branch = program_.branches[route.branch];
  route.inputs.assign(branch.inputs.size(), nullptr);
  route.repeats.assign(branch.inputs.size(), false);
  route.given.assign(branch.inputs.size(), false);
  route.rows = kUnknownRows;
  for (const InputBuffer& input : inputs) {
    if (fused_ && input.name == poprt::program::kIndexInput) continue;
    const Tensor* tensor = Check(input.name, true, route.branch, problems);
    if (tensor != nullptr) TakeInput(input, *tensor, route, problems);
  }
  TakeFrozen(route, problems);
  ReportMissing(branch, branch.inputs, "input ", route, problems);
  const std::uint64_t batch_rows = plan_ == nullptr ? 1 : plan_->branch(route.branch).rows;
  if (route.rows == kUnknownRows) route.rows = batch_rows;
  route.batches = route.rows / batch_rows + (route.rows % batch_rows == 0 ? 0 : 1);
  for (const Stream& output : branch.outputs) {
    if (!output.extent || route.batches == 1) continue;
    problems.Add("the request has " + std::to_string(route.batches) + " batches, allowed is 1: " +
                 "the extent of output " + Quoted(output.name) + " depends on the data");
  }
}

void RequestRouter::TakeFrozen(Route& route, Problems& problems) const {
  const std::vector<InputBuffer>& frozen = frozen_[route.branch];
  for (std::size_t i = 0; i < frozen.size(); ++i) {
    if (frozen[i].data == nullptr || route.given[i]) continue;
    const Tensor& tensor = *Find(frozen[i].name);
    const bool one_batch = frozen[i].bytes == tensor.bytes;
    if (!one_batch) SetRows(frozen[i].name, tensor, frozen[i].bytes, route, problems);
    route.given[i] = true;
    route.repeats[i] = one_batch;
    route.inputs[i] = frozen[i].data;
  }
}

void RequestRouter::MatchOutputs(std::span<const OutputBuffer> outputs, Route& route,
                                 Problems& problems) const {
  const Branch& branch = program_.branches[route.branch];
  route.outputs.assign(branch.outputs.size(), nullptr);
  route.shapes.assign(branch.outputs.size(), nullptr);
  route.given.assign(branch.outputs.size(), false);
  for (const OutputBuffer& output : outputs) {
    const Tensor* tensor = Check(output.name, false, route.branch, problems);
    if (tensor == nullptr) continue;
    SetRows(output.name, *tensor, output.bytes, route, problems);
    if (output.data == nullptr && output.bytes > 0) {
      problems.Add(WithoutMemory("output ", output.name));
    }
    route.given[tensor->position] = true;
    route.outputs[tensor->position] = output.data;
    route.shapes[tensor->position] = output.shape;
  }
  if (validate_) ReportMissing(branch, branch.outputs, "output ", route, problems);
}

void RequestRouter::ReportMissing(const Branch& branch, const std::vector<Stream>& streams,
                                  const char* kind, const Route& route, Problems& problems) {
  for (std::size_t i = 0; i < streams.size(); ++i) {
    if (route.given[i]) continue;
    problems.Add(kind + Quoted(streams[i].name) + " of graph '" + branch.name + "' is missing");
  }
}

void RequestRouter::ResolveInputs(std::span<const InputBuffer> inputs, Route& route) const {
  std::vector<InputBuffer> sorted(inputs.begin(), inputs.end());
  SortByName(sorted);
  Problems problems;
  route.branch = SelectBranch(sorted, {}, problems);
  problems.Throw();
  MatchInputs(sorted, route, problems);
  problems.Throw();
}

void RequestRouter::Match(std::span<const InputBuffer> inputs,
                          std::span<const OutputBuffer> outputs, Route& route,
                          Problems& problems) const {
  route.branch = SelectBranch(inputs, outputs, problems);
  if (!problems.empty()) return;
  MatchInputs(inputs, route, problems);
  MatchOutputs(outputs, route, problems);
}

void RequestRouter::Resolve(std::span<const InputBuffer> inputs,
                            std::span<const OutputBuffer> outputs, Route& route) const {
  Problems found;
  Match(inputs, outputs, route, found);
  if (found.empty()) return;
  // Requests come in no order of their own; a wrong one gets the same message every time.
  std::vector<InputBuffer> sorted_inputs(inputs.begin(), inputs.end());
  std::vector<OutputBuffer> sorted_outputs(outputs.begin(), outputs.end());
  SortByName(sorted_inputs);
  SortByName(sorted_outputs);
  Problems problems;
  Match(sorted_inputs, sorted_outputs, route, problems);
  problems.Throw();
}

}  // namespace model_runtime
