#pragma once

#include <functional>
#include <set>
#include <string>

#include "compiler/ir/graph.hpp"

/// What double_to_float, int64_to_int32 and float_to_half have in common.
namespace poprt::passes {

struct ElementTypeChange {
  ElementType from = ElementType::kUndefined;
  ElementType to = ElementType::kUndefined;
  /// Converts the elements of a constant; the name is for warnings.
  std::function<Tensor(const std::string& name, const Tensor& constant)> convert;
  /// Operators that keep `from` whatever they allow.
  std::set<std::string> keep;
  /// Inputs and outputs of the graph keep `from`.
  bool keep_interface = false;
};

/// before: y = Exp(x), z = Keep(y) : from      after: y = Exp(x) : to, z = Cast(Keep(Cast(y)))
///
/// Every value of the graph, inputs and outputs included, changes from `from` to `to`; so do the
/// attributes that name a type (`to`, `dtype`) and tensor attributes. Nodes that must keep `from`,
/// because `keep` says so or because their rule in the operator table leaves no choice, stand
/// between Casts, as nodes with regions always do: one for each value, and none between two such
/// nodes. Constants read by them keep their exact elements.
void ChangeElementType(ir::Graph& graph, const ElementTypeChange& change);

}  // namespace poprt::passes
