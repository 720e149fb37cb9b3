#pragma once

#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/emit/onnx_downgrade.hpp"

/// How nodes of newest form become older ones: topic files (onnx_downgrade_*.cpp) each export rows,
/// onnx_downgrade.cpp joins them.
namespace poprt::emit {

/// A node being written in an older form.
struct DowngradeCall {
  OnnxNode& node;
  OnnxNodeWriter& writer;

  /// The types of input 0 and of output 0, which the node must have.
  const TensorType& input() const { return node.inputs.at(0).type; }
  const TensorType& output() const { return node.outputs.at(0).type; }
};

/// For rules that hold in every opset.
inline constexpr int kAlways = std::numeric_limits<int>::max();

/// One rule; an operator has at most one.
struct DowngradeRow {
  std::string_view op;
  int before;  ///< applies when an older opset is written
  /// See Downgrade().
  absl::Status (*downgrade)(const DowngradeCall& call);
};

std::span<const DowngradeRow> ActivationDowngrades();
std::span<const DowngradeRow> ElementTypeDowngrades();
std::span<const DowngradeRow> MlDowngrades();
std::span<const DowngradeRow> MovementDowngrades();
std::span<const DowngradeRow> NormalizationDowngrades();
std::span<const DowngradeRow> RecurrentDowngrades();
std::span<const DowngradeRow> ReductionDowngrades();
std::span<const DowngradeRow> SignalDowngrades();
std::span<const DowngradeRow> VisionDowngrades();

/// Unimplemented: "WHAT needs opset OPSET".
absl::Status NeedsOpset(const std::string& what, int opset);

/// Decomposes a node into steps that are written before it. The first error is kept, so that only
/// the end needs to look.
class DowngradeSteps {
 public:
  explicit DowngradeSteps(const DowngradeCall& call) : node_(call.node), writer_(call.writer) {}

  /// Writes a node, whose result has the type of the decomposed node's first output.
  OnnxValue Do(const std::string& op, std::vector<OnnxValue> inputs, Attributes attributes = {});
  /// Writes a node, whose result has the given type.
  OnnxValue Do(const std::string& op, std::vector<OnnxValue> inputs, TensorType type,
               Attributes attributes);
  /// A constant scalar of the floats that the node's first output has, rounded to them.
  OnnxValue Number(float value);

  /// The node becomes the last step.
  absl::Status Finish(const std::string& op, std::vector<OnnxValue> inputs,
                      Attributes attributes = {});

 private:
  OnnxNode& node_;
  OnnxNodeWriter& writer_;
  absl::Status status_;
};

}  // namespace poprt::emit
