#pragma once

#include <string>
#include <vector>

#include "compiler/ipu/plan/step_builder.hpp"

/// Reductions (section 2.8): every tile reduces what it has, then tiles that share outputs exchange
/// and reduce their partials.
namespace poprt::ipu {

enum class ReduceOperation : std::uint8_t { kAdd, kSquareAdd, kMultiply, kMax, kMin };

struct Reduction {
  std::string name;  ///< "reduce max"
  ReduceOperation operation = ReduceOperation::kAdd;
  std::vector<bool> axes;  ///< reduced, for every axis of the operand
  TensorType result;       ///< with or without the reduced axes
  /// Format of partials that tiles exchange: sums are kept in float (section 2.8).
  NumberFormat partials = NumberFormat::kFloat32;
};

/// Adds compute sets and exchanges. Nothing is reduced when the reduced axes have one element.
Placed AddReduction(StepBuilder& steps, const Placed& x, const Reduction& reduction);

/// For every axis of the rank whether `axes` names it; all where it is empty.
std::vector<bool> ReducedAxes(std::size_t rank, const std::vector<std::int64_t>& axes);

/// The type with 1 for the reduced axes.
TensorType KeptType(const TensorType& type, const std::vector<bool>& axes, ElementType element);

}  // namespace poprt::ipu
