#include "model_runtime/request_router.hpp"

#include <cstring>
#include <optional>
#include <set>

#include "runtime/program/container_names.hpp"

namespace model_runtime {
namespace {

using poprt::program::Branch;
using poprt::program::Stream;

/// Before the first tensor has told.
constexpr std::uint64_t kUnknownBatches = 0;

std::string Quoted(std::string_view name) { return "'" + std::string(name) + "'"; }

std::string NamesOf(const Branch& branch, const std::vector<Stream>& streams) {
  std::string names;
  for (const Stream& stream : streams) names += (names.empty() ? "" : ", ") + stream.name;
  return names.empty() ? "none of '" + branch.name + "'" : names;
}

/// The buffer as an unsigned integer of its size; nothing if there is none of that size.
std::optional<std::uint64_t> IntegerOf(const InputBuffer& buffer) {
  std::uint64_t number = 0;
  const bool fits =
      buffer.bytes == 1 || buffer.bytes == 2 || buffer.bytes == 4 || buffer.bytes == 8;
  if (!fits || buffer.data == nullptr) return std::nullopt;
  std::memcpy(&number, buffer.data, buffer.bytes);
  return number;
}

/// The same bits as a signed integer of `bytes` bytes: what a caller who wrote -1 wants to read.
std::int64_t AsSigned(std::uint64_t number, std::uint64_t bytes) {
  const auto unused_bits = static_cast<int>(8 * (sizeof(number) - bytes));
  return static_cast<std::int64_t>(number << unused_bits) >> unused_bits;
}

}  // namespace

/// Everything that is wrong with a request, in the order of discovery.
class RequestRouter::Problems {
 public:
  void Add(const std::string& problem) { text_ += (text_.empty() ? "" : "\n") + problem; }
  void Throw() const {
    if (!text_.empty()) throw Error(text_);
  }

 private:
  std::string text_;
};

RequestRouter::RequestRouter(const poprt::program::Program& program, bool fused, bool validate)
    : program_(program), fused_(fused), validate_(validate) {
  // Names first: a graph that is called "graph0" but is not the first keeps its name.
  for (std::size_t b = 0; b < program.branches.size(); ++b) AddNames(b);
  for (std::size_t b = 0; fused && b < program.branches.size(); ++b) AddNumberedNames(b);
}

void RequestRouter::AddNames(std::size_t index) {
  const Branch& branch = program_.branches[index];
  const auto add = [&](const std::vector<Stream>& streams, bool is_input) {
    for (std::size_t i = 0; i < streams.size(); ++i) {
      const poprt::TensorType& type = branch.slots[streams[i].slot].type;
      tensors_.emplace(streams[i].name,
                       Tensor{index, i, type.bytes(), poprt::ToString(type), is_input});
    }
  };
  add(branch.inputs, true);
  add(branch.outputs, false);
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

const RequestRouter::Tensor* RequestRouter::Find(std::string_view name) const {
  const auto at = tensors_.find(name);
  return at == tensors_.end() ? nullptr : &at->second;
}

std::string_view RequestRouter::CanonicalName(std::string_view name) const {
  const Tensor* tensor = Find(name);
  if (tensor == nullptr) return name;
  const Branch& branch = program_.branches[tensor->branch];
  return (tensor->is_input ? branch.inputs : branch.outputs)[tensor->position].name;
}

std::size_t RequestRouter::BranchOfIndex(const InputBuffer& index, Problems& problems) const {
  const std::optional<std::uint64_t> number = IntegerOf(index);
  if (!number) {
    problems.Add("input 'index' has " + std::to_string(index.bytes) +
                 " bytes, allowed is one integer of 1, 2, 4 or 8 bytes");
    return 0;
  }
  if (*number >= program_.branches.size()) {
    problems.Add("input 'index' is " + std::to_string(AsSigned(*number, index.bytes)) +
                 ", allowed are 0 to " + std::to_string(program_.branches.size() - 1));
    return 0;
  }
  return *number;
}

std::size_t RequestRouter::SelectBranch(std::span<const InputBuffer> inputs,
                                        std::span<const OutputBuffer> outputs,
                                        Problems& problems) const {
  if (!fused_) return 0;
  for (const InputBuffer& input : inputs) {
    if (input.name == poprt::program::kIndexInput) return BranchOfIndex(input, problems);
  }
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

void RequestRouter::SetBatches(std::string_view name, const Tensor& tensor, std::uint64_t bytes,
                               Route& route, Problems& problems) const {
  const std::string kind = tensor.is_input ? "input " : "output ";
  const bool fits = tensor.bytes == 0 ? bytes == 0 : bytes > 0 && bytes % tensor.bytes == 0;
  if (!fits) {
    problems.Add(kind + Quoted(name) + " has " + std::to_string(bytes) + " bytes, allowed are " +
                 std::to_string(tensor.bytes) + " (" + tensor.type + ") or a multiple");
    return;
  }
  if (tensor.bytes == 0) return;
  const std::uint64_t batches = bytes / tensor.bytes;
  if (route.batches == kUnknownBatches) route.batches = batches;
  if (batches != route.batches) {
    problems.Add(kind + Quoted(name) + " has " + std::to_string(batches) +
                 " batches, but the request's first tensor has " + std::to_string(route.batches));
  }
}

void RequestRouter::MatchInputs(std::span<const InputBuffer> inputs, Route& route,
                                Problems& problems) const {
  const Branch& branch = program_.branches[route.branch];
  route.inputs.assign(branch.inputs.size(), nullptr);
  route.batches = kUnknownBatches;
  std::vector<bool>& given = route.given;
  given.assign(branch.inputs.size(), false);
  for (const InputBuffer& input : inputs) {
    if (fused_ && input.name == poprt::program::kIndexInput) continue;
    const Tensor* tensor = Check(input.name, true, route.branch, problems);
    if (tensor == nullptr) continue;
    SetBatches(input.name, *tensor, input.bytes, route, problems);
    given[tensor->position] = true;
    route.inputs[tensor->position] = input.data;
  }
  ReportMissing(branch, branch.inputs, "input ", route, problems);
  if (route.batches == kUnknownBatches) route.batches = 1;
  for (const Stream& output : branch.outputs) {
    if (!output.extent || route.batches == 1) continue;
    problems.Add("the request has " + std::to_string(route.batches) + " batches, allowed is 1: " +
                 "the extent of output " + Quoted(output.name) + " depends on the data");
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
    SetBatches(output.name, *tensor, output.bytes, route, problems);
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
  Problems problems;
  route.branch = SelectBranch(inputs, {}, problems);
  problems.Throw();
  MatchInputs(inputs, route, problems);
  problems.Throw();
}

void RequestRouter::Resolve(std::span<const InputBuffer> inputs,
                            std::span<const OutputBuffer> outputs, Route& route) const {
  Problems problems;
  route.branch = SelectBranch(inputs, outputs, problems);
  problems.Throw();
  MatchInputs(inputs, route, problems);
  MatchOutputs(outputs, route, problems);
  problems.Throw();
}

}  // namespace model_runtime
