#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/frontend/proto/float_scalar.hpp"
#include "compiler/frontend/upgrade/upgrade_call.hpp"

namespace poprt::frontend {
namespace {

/// Ordered by operator, then by `before`.
const std::vector<UpgradeRow>& Rows() {
  static const std::vector<UpgradeRow> rows = [] {
    std::vector<UpgradeRow> joined;
    for (const auto topic : {
             ElementwiseUpgrades(),
             ElementTypeUpgrades(),
             NormalizationUpgrades(),
             MovementUpgrades(),
             ReductionUpgrades(),
             ResizeUpgrades(),
             VisionUpgrades(),
             SelectionUpgrades(),
             EinsumUpgrades(),
             RecurrentUpgrades(),
             SignalUpgrades(),
             LegacyUpgrades(),
             ExperimentalUpgrades(),
             LossUpgrades(),
             RandomUpgrades(),
             BatchNormalizationUpgrades(),
             OptimizerUpgrades(),
             AttentionUpgrades(),
             CausalConvUpgrades(),
             RotaryEmbeddingUpgrades(),
             MlUpgrades(),
             TreeUpgrades(),
         }) {
      joined.insert(joined.end(), topic.begin(), topic.end());
    }
    std::sort(joined.begin(), joined.end(), [](const UpgradeRow& a, const UpgradeRow& b) {
      return std::pair(a.op, a.before) < std::pair(b.op, b.before);
    });
    return joined;
  }();
  return rows;
}

std::span<const UpgradeRow> RowsOf(std::string_view op) {
  const auto& rows = Rows();
  const auto first =
      std::lower_bound(rows.begin(), rows.end(), op,
                       [](const UpgradeRow& row, std::string_view name) { return row.op < name; });
  const auto last =
      std::find_if(first, rows.end(), [&](const UpgradeRow& row) { return row.op != op; });
  return {first, last};
}

}  // namespace

const TensorType& UpgradeCall::type(std::size_t i) const {
  static const TensorType absent;
  return input(i) == ir::kAbsent ? absent : sink.graph().type(input(i));
}

void UpgradeCall::set_input(std::size_t i, ir::ValueId value) const {
  if (node.inputs.size() <= i) node.inputs.resize(i + 1, ir::kAbsent);
  node.inputs[i] = value;
}

absl::Status UpgradeCall::MissingInput(std::size_t i) const {
  return absl::InvalidArgumentError("input " + std::to_string(i) + " is missing");
}

absl::Status UpgradeCall::WrongInput(std::size_t i, const std::string& wanted) const {
  return absl::InvalidArgumentError("input " + std::to_string(i) + " is " + ToString(type(i)) +
                                    ", " + wanted);
}

absl::Status AttributeToInput(const UpgradeCall& call, const char* attribute, std::size_t index) {
  const float value = call.node.attributes.get_float(attribute, 0.0F);
  call.node.attributes.erase(attribute);
  std::optional<Tensor> scalar = FloatScalar(call.type(0).element, value);
  if (!scalar) {
    return absl::InvalidArgumentError("input 0 is " + ToString(call.type(0)) +
                                      ", its elements must be floats before opset 11");
  }
  call.set_input(index,
                 call.sink.AddConstant(call.node.name + "/" + attribute, *std::move(scalar)));
  return absl::OkStatus();
}

absl::Status Upgrade(int opset, SourceNode& node, NodeSink& sink) {
  // Once said which inputs may be overwritten.
  if (opset < 6) node.attributes.erase("consumed_inputs");
  const std::string op = node.op;
  for (const UpgradeRow& row : RowsOf(op)) {
    if (opset >= row.before) continue;
    const absl::Status status = row.upgrade({.opset = opset, .node = node, .sink = sink});
    if (!status.ok() || node.op != op) return status;
  }
  return absl::OkStatus();
}

bool IsReplaced(std::string_view op, std::string_view domain) {
  const auto rows = RowsOf(op);
  return std::any_of(rows.begin(), rows.end(),
                     [&](const UpgradeRow& row) { return row.replaces && row.domain == domain; });
}

std::vector<std::string> ReplacedOps() {
  std::set<std::string> names;
  for (const UpgradeRow& row : Rows()) {
    if (!row.replaces) continue;
    names.insert((row.domain.empty() ? "" : std::string(row.domain) + ".") + std::string(row.op));
  }
  return {names.begin(), names.end()};
}

}  // namespace poprt::frontend
