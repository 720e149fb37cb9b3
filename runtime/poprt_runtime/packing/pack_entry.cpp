#include "runtime/poprt_runtime/packing/pack_entry.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "runtime/poprt_runtime/problem_list.hpp"

namespace poprt::runtime {
namespace {

std::string Input(const std::string& name) { return "input '" + name + "'"; }
std::string Output(const std::string& name) { return "output '" + name + "'"; }
std::string Bytes(std::uint64_t bytes) { return std::to_string(bytes) + " bytes"; }

std::string NamesOf(const std::vector<PackTensor>& tensors) {
  std::string names;
  for (const PackTensor& tensor : tensors) names += (names.empty() ? "" : ", ") + tensor.name;
  return names;
}

/// The names of a request that the model does not have, sorted.
template <typename Views>
std::set<std::string> UnknownNames(const std::vector<PackTensor>& tensors, const Views& views) {
  std::set<std::string> unknown;
  for (const auto& [name, view] : views) unknown.insert(name);
  for (const PackTensor& tensor : tensors) unknown.erase(tensor.name);
  return unknown;
}

std::vector<TokenRun> KeptRuns(const std::byte* mask, std::uint64_t element_bytes,
                               std::uint64_t tokens) {
  std::vector<TokenRun> runs;
  for (std::uint64_t token = 0; token < tokens; ++token) {
    const std::byte* element = mask + token * element_bytes;
    const bool is_padding = std::all_of(element, element + element_bytes,
                                        [](std::byte part) { return part == std::byte{0}; });
    if (is_padding) continue;
    if (runs.empty() || runs.back().first + runs.back().count != token) runs.push_back({token, 0});
    ++runs.back().count;
  }
  return runs;
}

class EntryBuilder {
 public:
  EntryBuilder(const PackLayout& layout, const InputMemoryView& inputs)
      : layout_(layout), views_(inputs) {}

  PackEntry Build() {
    for (const std::string& name : UnknownNames(layout_.inputs, views_)) {
      problems_.Add(Input(name) + " does not exist, input names are: " + NamesOf(layout_.inputs));
    }
    for (const PackTensor& input : layout_.inputs) AddInput(input);
    problems_.Throw();
    SetLength();
    problems_.Throw();
    return std::move(entry_);
  }

 private:
  void AddInput(const PackTensor& input) {
    entry_.inputs.push_back(nullptr);
    tokens_.push_back(0);
    if (input.role == PackRole::kUnpackInfo) return;
    const auto at = views_.find(input.name);
    if (at == views_.end()) {
      problems_.Add(
          (input.role == PackRole::kMask ? "mask " + Input(input.name) : Input(input.name)) +
          " is missing");
      return;
    }
    const ConstTensorMemoryView& view = at->second;
    entry_.inputs.back() = static_cast<const std::byte*>(view.data);
    if (input.has_tokens()) {
      SetTokens(input, view.dataSizeBytes);
    } else if (view.dataSizeBytes != input.part_bytes) {
      problems_.Add(Input(input.name) + " has " + Bytes(view.dataSizeBytes) + ", allowed are " +
                    std::to_string(input.part_bytes) + ", the part of one entry");
    }
  }

  void SetTokens(const PackTensor& input, std::uint64_t bytes) {
    if (input.part_bytes == 0) return;
    if (bytes == 0 || bytes % input.part_bytes != 0) {
      problems_.Add(Input(input.name) + " has " + Bytes(bytes) + ", allowed is a multiple of " +
                    std::to_string(input.part_bytes) + ", the bytes of a token");
    }
    tokens_.back() = bytes / input.part_bytes;
  }

  /// Counts the tokens that are left and compares the other inputs with that.
  void SetLength() {
    const PackTensor& leader = layout_.inputs[layout_.length_input];
    const bool strips = layout_.mask && layout_.inputs[*layout_.mask].strip;
    // Of inputs with padding and of those without.
    const std::uint64_t given = tokens_[strips ? *layout_.mask : layout_.length_input];
    entry_.length = given;
    if (strips) {
      const PackTensor& mask = layout_.inputs[*layout_.mask];
      entry_.kept = KeptRuns(entry_.inputs[*layout_.mask], mask.part_bytes, given);
      entry_.length = 0;
      for (const TokenRun& run : entry_.kept) entry_.length += run.count;
    } else {
      entry_.kept = {{0, given}};
    }
    const std::string& reference = strips ? layout_.inputs[*layout_.mask].name : leader.name;
    for (std::size_t i = 0; i < layout_.inputs.size(); ++i) {
      const PackTensor& input = layout_.inputs[i];
      const std::uint64_t wanted = input.strip ? given : entry_.length;
      if (!input.has_tokens() || input.part_bytes == 0 || tokens_[i] == wanted) continue;
      problems_.Add(Input(input.name) + " has " + std::to_string(tokens_[i]) + " tokens, but " +
                    Input(reference) + " has " + std::to_string(wanted) +
                    (strips && !input.strip ? " without padding" : ""));
    }
    if (entry_.length == 0) problems_.Add("the request has no tokens: its mask is 0 everywhere");
    if (entry_.length > layout_.row_length) {
      problems_.Add("the request has " + std::to_string(entry_.length) +
                    " tokens, a row of the model has " + std::to_string(layout_.row_length));
    }
  }

  const PackLayout& layout_;
  const InputMemoryView& views_;
  ProblemList problems_;
  PackEntry entry_;
  std::vector<std::uint64_t> tokens_;  ///< of every input
};

}  // namespace

PackEntry MakePackEntry(const PackLayout& layout, const InputMemoryView& inputs) {
  return EntryBuilder(layout, inputs).Build();
}

PackEntry MakePackEntry(const PackLayout& layout, const InputMemoryView& inputs,
                        const OutputMemoryView& outputs) {
  PackEntry entry = MakePackEntry(layout, inputs);
  ProblemList problems;
  for (const std::string& name : UnknownNames(layout.outputs, outputs)) {
    problems.Add(Output(name) + " does not exist, output names are: " + NamesOf(layout.outputs));
  }
  for (const PackTensor& output : layout.outputs) {
    const auto at = outputs.find(output.name);
    entry.outputs.push_back(at == outputs.end() ? nullptr
                                                : static_cast<std::byte*>(at->second.data));
    const std::uint64_t needed = entry.OutputBytes(output);
    if (at == outputs.end() || at->second.dataSizeBytes >= needed) continue;
    problems.Add(Output(output.name) + " has " + Bytes(at->second.dataSizeBytes) +
                 ", allowed are " + std::to_string(needed) + " or more");
  }
  if (outputs.empty()) {
    problems.Add("the request has no outputs, output names are: " + NamesOf(layout.outputs));
  }
  problems.Throw();
  return entry;
}

}  // namespace poprt::runtime
