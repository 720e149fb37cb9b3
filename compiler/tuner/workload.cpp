#include "compiler/tuner/workload.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace poprt::tuner {
namespace {

std::string TypeText(const TensorType& type) { return type.defined() ? ToString(type) : "-"; }

std::string InputText(const TimedInput& input) {
  return (input.constant ? "constant " : "") + TypeText(input.type);
}

TimedInput InputOf(const lower::Schedule& schedule, lower::BufferId id) {
  if (id == lower::kNoBuffer) return {};
  return {.type = schedule.buffers[id].type, .constant = schedule.buffers[id].constant};
}

/// Joins equal uses as they come.
class UseCollector {
 public:
  explicit UseCollector(const lower::Schedule& schedule) : schedule_(schedule) {}

  void Add(std::span<const lower::Step> steps) {
    for (const lower::Step& step : steps) {
      for (const lower::Body& body : step.bodies) Add(body.steps);
      if (step.bodies.empty()) Add(UseOf(schedule_, step));
    }
  }

  std::vector<KernelUse> Take() { return std::move(uses_); }

 private:
  void Add(KernelUse use) {
    const auto [at, added] = positions_.try_emplace(Describe(use), uses_.size());
    if (added) {
      uses_.push_back(std::move(use));
    } else {
      ++uses_[at->second].count;
    }
  }

  const lower::Schedule& schedule_;
  std::vector<KernelUse> uses_;
  std::map<std::string, std::size_t> positions_;
};

}  // namespace

std::string Describe(const KernelUse& use) {
  const auto append = [](auto text) {
    return [text](std::string* out, const auto& item) { out->append(text(item)); };
  };
  std::string line =
      absl::StrCat(use.kernel, "(", absl::StrJoin(use.inputs, ", ", append(InputText)), ")");
  if (const auto& entries = use.attributes.entries(); !entries.empty()) {
    absl::StrAppend(
        &line, " {",
        absl::StrJoin(entries, ", ", append([](const auto& entry) { return ToString(entry); })),
        "}");
  }
  absl::StrAppend(&line, " -> ", absl::StrJoin(use.outputs, ", ", append(TypeText)));
  return line;
}

KernelUse UseOf(const ir::Graph& graph, const ir::Node& node, host::KernelChoice choice) {
  KernelUse use{.kernel = std::move(choice.kernel),
                .inputs = {},
                .outputs = {},
                .attributes = std::move(choice.attributes)};
  for (host::Operand& operand : choice.operands) {
    if (operand.packed) {
      const TensorType type = operand.packed->type();
      use.inputs.push_back({type, std::move(operand.packed)});
    } else if (operand.value == ir::kAbsent) {
      use.inputs.emplace_back();
    } else {
      const ir::Value& value = graph.value(operand.value);
      use.inputs.push_back({value.type, value.constant});
    }
  }
  for (const ir::ValueId id : node.outputs) {
    use.outputs.push_back(id == ir::kAbsent ? TensorType{} : graph.type(id));
  }
  return use;
}

KernelUse UseOf(const lower::Schedule& schedule, const lower::Step& step) {
  KernelUse use{.kernel = step.kernel, .inputs = {}, .outputs = {}, .attributes = step.attributes};
  for (const lower::BufferId id : step.inputs) use.inputs.push_back(InputOf(schedule, id));
  for (const lower::BufferId id : step.outputs) {
    use.outputs.push_back(id == lower::kNoBuffer ? TensorType{} : schedule.buffers[id].type);
  }
  return use;
}

std::vector<KernelUse> UsesOf(const lower::Schedule& schedule) {
  UseCollector collector(schedule);
  collector.Add(schedule.steps);
  return collector.Take();
}

void CancelCommonUses(std::vector<KernelUse>& a, std::vector<KernelUse>& b) {
  std::map<std::string, KernelUse*> in_a;
  for (KernelUse& use : a) in_a[Describe(use)] = &use;
  for (KernelUse& use : b) {
    const auto found = in_a.find(Describe(use));
    if (found == in_a.end()) continue;
    const int common = std::min(use.count, found->second->count);
    use.count -= common;
    found->second->count -= common;
  }
  const auto is_gone = [](const KernelUse& use) { return use.count == 0; };
  std::erase_if(a, is_gone);
  std::erase_if(b, is_gone);
}

}  // namespace poprt::tuner
