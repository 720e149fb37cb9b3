#pragma once

#include <span>
#include <string>
#include <vector>

#include "compiler/frontend/upgrade/upgrade_call.hpp"

namespace poprt::frontend {

/// Decomposes a node into steps that come before it in the graph. The first error is kept, and
/// steps after it do nothing, so that only the end needs to look.
class UpgradeSteps {
 public:
  explicit UpgradeSteps(const UpgradeCall& call) : call_(call) {}

  /// A node in its newest form and its result.
  ir::ValueId Do(const std::string& op, std::vector<ir::ValueId> inputs,
                 Attributes attributes = {});
  /// A constant scalar of any type of numbers, rounded to it.
  ir::ValueId Number(double value, ElementType element);
  ir::ValueId Constant(const std::string& name, Tensor tensor);
  ir::ValueId Cast(ir::ValueId value, ElementType element);
  ir::ValueId Reshape(ir::ValueId value, const Shape& shape);

  /// The type of a value; undefined for what a failed step gave.
  TensorType type(ir::ValueId value) const;
  bool ok() const { return status_.ok(); }

  /// The node becomes the last step.
  absl::Status Finish(const std::string& op, std::vector<ir::ValueId> inputs,
                      Attributes attributes = {});
  /// The outputs of the node are these values; those at the end may be missing when nobody reads
  /// them.
  absl::Status FinishWith(std::span<const ir::ValueId> values);

 private:
  const UpgradeCall& call_;
  absl::Status status_;
};

}  // namespace poprt::frontend
