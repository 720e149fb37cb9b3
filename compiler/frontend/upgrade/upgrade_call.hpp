#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "compiler/frontend/upgrade/upgrade.hpp"

/// How nodes of older forms become newer ones: topic files (upgrade_*.cpp) each export rows,
/// upgrade.cpp joins them.
namespace poprt::frontend {

/// A node being upgraded.
struct UpgradeCall {
  int opset;  ///< of the operator's domain
  SourceNode& node;
  NodeSink& sink;

  ir::ValueId input(std::size_t i) const {
    return i < node.inputs.size() ? node.inputs[i] : ir::kAbsent;
  }
  /// The type of input i, undefined when it is absent.
  const TensorType& type(std::size_t i) const;
  /// The elements of input i, null unless it is constant.
  const Tensor* constant(std::size_t i) const { return sink.graph().ConstantOf(input(i)); }
  void set_input(std::size_t i, ir::ValueId value) const;
  absl::Status MissingInput(std::size_t i) const;
  /// "input 1 is float32[3], it must ..."; `wanted` is what comes after the comma.
  absl::Status WrongInput(std::size_t i, const std::string& wanted) const;
};

/// For rules that hold in every opset.
inline constexpr int kAlways = std::numeric_limits<int>::max();

/// One rule.
struct UpgradeRow {
  std::string_view op;
  int before;  ///< applies to nodes of older opsets
  /// Makes the node one that needs no rule with a higher `before`, or of another operator in its
  /// newest form. See Upgrade().
  absl::Status (*upgrade)(const UpgradeCall& call);
  bool replaces = false;  ///< no node of the operator is left
  std::string_view domain = {};
};

std::span<const UpgradeRow> ElementwiseUpgrades();
std::span<const UpgradeRow> ElementTypeUpgrades();
std::span<const UpgradeRow> NormalizationUpgrades();
std::span<const UpgradeRow> MovementUpgrades();
std::span<const UpgradeRow> ReductionUpgrades();
std::span<const UpgradeRow> ResizeUpgrades();
std::span<const UpgradeRow> VisionUpgrades();
std::span<const UpgradeRow> SelectionUpgrades();
std::span<const UpgradeRow> EinsumUpgrades();
std::span<const UpgradeRow> RecurrentUpgrades();
std::span<const UpgradeRow> SignalUpgrades();
std::span<const UpgradeRow> LegacyUpgrades();
std::span<const UpgradeRow> ExperimentalUpgrades();
std::span<const UpgradeRow> LossUpgrades();
std::span<const UpgradeRow> RandomUpgrades();
std::span<const UpgradeRow> BatchNormalizationUpgrades();
std::span<const UpgradeRow> OptimizerUpgrades();
std::span<const UpgradeRow> AttentionUpgrades();
std::span<const UpgradeRow> CausalConvUpgrades();
std::span<const UpgradeRow> RotaryEmbeddingUpgrades();
std::span<const UpgradeRow> MlUpgrades();
std::span<const UpgradeRow> TreeUpgrades();

/// A float attribute of an older form becomes input `index` of the newest, of input 0's type.
absl::Status AttributeToInput(const UpgradeCall& call, const char* attribute, std::size_t index);

}  // namespace poprt::frontend
