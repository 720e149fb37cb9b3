#include "compiler/lower/lower.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "absl/status/status.h"
#include "compiler/host/select_kernel.hpp"
#include "runtime/kernels/kernel.hpp"

namespace poprt::lower {
namespace {

/// Operators whose output is their first input under another shape.
constexpr std::array<std::string_view, 5> kViews{"Flatten", "Identity", "Reshape", "Squeeze",
                                                 "Unsqueeze"};

class Lowering {
 public:
  explicit Lowering(const ir::Graph& graph) : graph_(graph) { schedule_.name = graph.name; }

  absl::StatusOr<Schedule> Run() {
    for (ir::ValueId id : graph_.inputs) {
      schedule_.inputs.push_back({graph_.value(id).name, BufferOf(id)});
    }
    for (const ir::Node& node : graph_.nodes) {
      if (std::find(kViews.begin(), kViews.end(), node.op) != kViews.end()) {
        AddView(node);
      } else {
        AddStep(node);
      }
    }
    for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
      schedule_.outputs.push_back({graph_.output_names[i], BufferOf(graph_.outputs[i])});
    }
    if (!problems_.empty()) return absl::InvalidArgumentError(problems_);
    return std::move(schedule_);
  }

 private:
  BufferId AddBuffer(Buffer buffer) {
    schedule_.buffers.push_back(std::move(buffer));
    return static_cast<BufferId>(schedule_.buffers.size() - 1);
  }

  BufferId BufferOf(ir::ValueId id) {
    if (id == ir::kAbsent) return kNoBuffer;
    const auto [at, added] = buffers_.try_emplace(id, kNoBuffer);
    if (added) {
      const ir::Value& value = graph_.value(id);
      at->second =
          AddBuffer({.type = value.type, .constant = value.constant, .view_of = std::nullopt});
    }
    return at->second;
  }

  BufferId BufferOf(const host::Operand& operand) {
    if (!operand.packed.has_value()) return BufferOf(operand.value);
    return AddBuffer(
        {.type = operand.packed->type(), .constant = operand.packed, .view_of = std::nullopt});
  }

  void AddView(const ir::Node& node) {
    const BufferId source = BufferOf(node.inputs[0]);
    buffers_[node.outputs[0]] = AddBuffer({.type = graph_.type(node.outputs[0]),
                                           .constant = std::nullopt,
                                           .view_of = schedule_.Storage(source)});
  }

  void AddStep(const ir::Node& node) {
    const absl::StatusOr<host::KernelChoice> choice = host::SelectKernel(graph_, node);
    if (!choice.ok()) return Refuse(node, std::string(choice.status().message()));
    Step step{.name = node.name,
              .kernel = choice->kernel,
              .inputs = {},
              .outputs = {},
              .attributes = choice->attributes};
    for (const host::Operand& operand : choice->operands) step.inputs.push_back(BufferOf(operand));
    for (ir::ValueId id : node.outputs) step.outputs.push_back(BufferOf(id));
    Check(node, step);
    schedule_.steps.push_back(std::move(step));
  }

  /// Binds the step's kernel, for its opinion only.
  void Check(const ir::Node& node, const Step& step) {
    const auto types = [&](const std::vector<BufferId>& ids) {
      std::vector<TensorType> result;
      for (BufferId id : ids) {
        result.push_back(id == kNoBuffer ? TensorType{} : schedule_.buffers[id].type);
      }
      return result;
    };
    const kernels::KernelDef* kernel = kernels::FindKernel(step.kernel);
    if (kernel == nullptr) return Refuse(node, "the model device has no kernel for it");
    try {
      kernel->bind({.inputs = types(step.inputs),
                    .outputs = types(step.outputs),
                    .attributes = step.attributes});
    } catch (const std::exception& error) {
      Refuse(node, error.what());
    }
  }

  void Refuse(const ir::Node& node, const std::string& reason) {
    std::string types;
    for (ir::ValueId id : node.inputs) {
      types += (types.empty() ? "" : ", ") + (id == ir::kAbsent ? "-" : ToString(graph_.type(id)));
    }
    if (!problems_.empty()) problems_ += "\n";
    problems_ += graph_.name + ": node '" + node.name + "' (" + node.op + " of " + types +
                 ") cannot be compiled: " + reason;
  }

  const ir::Graph& graph_;
  Schedule schedule_;
  std::unordered_map<ir::ValueId, BufferId> buffers_;
  std::string problems_;
};

}  // namespace

absl::StatusOr<Schedule> Lower(const ir::Graph& graph) { return Lowering(graph).Run(); }

}  // namespace poprt::lower
