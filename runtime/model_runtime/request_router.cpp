#include "model_runtime/request_router.hpp"

#include <cstring>

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
  for (std::size_t b = 0; b < program.branches.size(); ++b) {
    const Branch& branch = program.branches[b];
    const std::string prefix = branch.name + "/";
    const std::string numbered = "graph" + std::to_string(b) + "/";
    const auto add = [&](const std::vector<Stream>& streams, bool is_input) {
      for (std::size_t i = 0; i < streams.size(); ++i) {
        const poprt::TensorType& type = branch.slots[streams[i].slot].type;
        const Tensor tensor{b, i, type.bytes(), poprt::ToString(type), is_input};
        const std::string& name = streams[i].name;
        tensors_.emplace(name, tensor);
        // A graph called "graph1" at another place keeps its own name.
        if (fused && name.starts_with(prefix)) {
          tensors_.try_emplace(numbered + name.substr(prefix.size()), tensor);
        }
      }
    };
    add(branch.inputs, true);
    add(branch.outputs, false);
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
  std::uint64_t number = 0;
  if (index.bytes == 0 || index.bytes > sizeof(number) || index.data == nullptr) {
    problems.Add("input 'index' has " + std::to_string(index.bytes) +
                 " bytes, allowed is one integer of 1, 2, 4 or 8 bytes");
    return 0;
  }
  std::memcpy(&number, index.data, index.bytes);
  if (number >= program_.branches.size()) {
    problems.Add("input 'index' is " + std::to_string(number) + ", allowed are 0 to " +
                 std::to_string(program_.branches.size() - 1));
    return 0;
  }
  return number;
}

std::size_t RequestRouter::SelectBranch(std::span<const InputBuffer> inputs,
                                        std::span<const OutputBuffer> outputs,
                                        Problems& problems) const {
  if (!fused_) return 0;
  for (const InputBuffer& input : inputs) {
    if (input.name == poprt::program::kIndexInput) return BranchOfIndex(input, problems);
  }
  // Without index the first known tensor decides; Check() names those that disagree.
  for (const InputBuffer& input : inputs) {
    const Tensor* tensor = Find(input.name);
    if (tensor != nullptr) return tensor->branch;
  }
  for (const OutputBuffer& output : outputs) {
    const Tensor* tensor = Find(output.name);
    if (tensor != nullptr) return tensor->branch;
  }
  problems.Add("the request gives neither 'index' nor a tensor of any graph");
  return 0;
}

const RequestRouter::Tensor* RequestRouter::Check(std::string_view name, bool is_input,
                                                  std::size_t branch, Problems& problems) const {
  const std::string kind = is_input ? "input " : "output ";
  const Tensor* tensor = Find(name);
  const Branch& selected = program_.branches[branch];
  if (tensor == nullptr) {
    if (validate_) {
      problems.Add(kind + Quoted(name) + " does not exist, " + kind + "names are: " +
                   NamesOf(selected, is_input ? selected.inputs : selected.outputs));
    }
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
}

void RequestRouter::MatchOutputs(std::span<const OutputBuffer> outputs, Route& route,
                                 Problems& problems) const {
  const Branch& branch = program_.branches[route.branch];
  route.outputs.assign(branch.outputs.size(), nullptr);
  route.given.assign(branch.outputs.size(), false);
  for (const OutputBuffer& output : outputs) {
    const Tensor* tensor = Check(output.name, false, route.branch, problems);
    if (tensor == nullptr) continue;
    SetBatches(output.name, *tensor, output.bytes, route, problems);
    route.given[tensor->position] = true;
    route.outputs[tensor->position] = output.data;
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
