#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ipu/plan/step_builder.hpp"
#include "compiler/ir/graph.hpp"

/// One node while it is expanded into supersteps.
namespace poprt::ipu {

class Operation {
 public:
  /// `inputs` and `outputs` are those of the node; absent ones have an undefined type.
  Operation(const ir::Node& node, std::vector<Placed> inputs, std::vector<TensorType> outputs,
            StepBuilder& steps)
      : node_(node),
        inputs_(std::move(inputs)),
        output_types_(std::move(outputs)),
        outputs_(output_types_.size()),
        steps_(steps) {
    for (std::size_t i = 0; i < inputs_.size(); ++i) inputs_[i].origin = i;
    placements_.resize(inputs_.size());
  }

  const ir::Node& node() const { return node_; }
  std::string_view op() const { return node_.op; }
  StepBuilder& steps() { return steps_; }

  std::size_t input_count() const { return inputs_.size(); }
  bool has_input(std::size_t i) const { return i < inputs_.size() && inputs_[i].type.defined(); }
  const Placed& input(std::size_t i) const { return inputs_[i]; }
  std::size_t output_count() const { return output_types_.size(); }
  bool has_output(std::size_t i) const {
    return i < output_types_.size() && output_types_[i].defined();
  }
  const TensorType& output_type(std::size_t i) const { return output_types_[i]; }

  /// Where output `i` is; in the memory of an input when `placed` says so.
  void SetOutput(std::size_t i, Placed placed) { outputs_[i] = std::move(placed); }
  const Placed& output(std::size_t i) const { return outputs_[i]; }

  /// A constant input lies so from the start, unless another operator wanted it elsewhere before.
  void PlaceConstant(std::size_t i, const Layout& layout) { placements_[i] = layout; }
  const std::optional<Layout>& placement(std::size_t i) const { return placements_[i]; }

  std::uint64_t flops = 0;
  /// Value of the first input when it is a constant integer: trips of a loop.
  std::optional<std::uint64_t> trip_count = {};
  std::string grid = {};

 private:
  const ir::Node& node_;
  std::vector<Placed> inputs_;
  std::vector<TensorType> output_types_;
  std::vector<Placed> outputs_;
  std::vector<std::optional<Layout>> placements_;
  StepBuilder& steps_;
};

/// Adds the supersteps of an operation and says where its outputs are. Outputs that it does not set
/// are laid out linearly.
using ExpandRule = void (*)(Operation& operation);

/// The rule of an ONNX operator; the generic estimate for operators without one of their own.
ExpandRule FindExpandRule(std::string_view op);

/// The rule of operators that the table of element-wise steps has, the generic one for others.
ExpandRule StepwiseRule(std::string_view op);

/// A row of a family.
struct ExpandRow {
  std::string_view op;
  ExpandRule rule;
};

// The families, one source file each.
std::span<const ExpandRow> ProductRules();
std::span<const ExpandRow> ElementwiseRules();
std::span<const ExpandRow> ReductionRules();
std::span<const ExpandRow> NormalizationRules();
std::span<const ExpandRow> PoolingRules();
std::span<const ExpandRow> GatherRules();
std::span<const ExpandRow> ViewRules();
std::span<const ExpandRow> MovementRules();
std::span<const ExpandRow> AttentionRules();
std::span<const ExpandRow> QuantizationRules();
std::span<const ExpandRow> RecurrentRules();
std::span<const ExpandRow> SortingRules();
std::span<const ExpandRow> SamplingRules();
std::span<const ExpandRow> ControlFlowRules();

/// The generic estimate (documented with its definition): never zero, never refuses.
void ExpandGeneric(Operation& operation);

}  // namespace poprt::ipu
