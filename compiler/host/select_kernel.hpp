#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/graph.hpp"

/// Decisions for the model device: kernels, packed weights, addresses.
namespace poprt::host {

/// An operand of a kernel: a value of the graph, or a constant made for the kernel.
struct Operand {
  ir::ValueId value = ir::kAbsent;
  std::optional<Tensor> packed;
};

struct KernelChoice {
  std::string kernel;
  std::vector<Operand> operands;
  Attributes attributes;
};

/// The kernel for one node. Nodes with constant weights get them packed; every other operator has
/// the kernel of its own name. Depends on the node and its operand types only, so a graph runs the
/// same kernels alone and fused.
absl::StatusOr<KernelChoice> SelectKernel(const ir::Graph& graph, const ir::Node& node);

}  // namespace poprt::host
