#include "passes/lowering/fused_operator.hpp"

#include <utility>

namespace poprt::passes {

bool IsBackendType(ElementType type) {
  return type == ElementType::kFloat32 || type == ElementType::kFloat16;
}

ir::Node* OpenFused(Rewriter& rewriter, ir::ValueId id) {
  ir::Node* node = rewriter.Producer(id);
  if (node == nullptr || (node->op != "FusedMatMul" && node->op != "FusedConv")) return nullptr;
  return node->attributes.has("activation") ? nullptr : node;
}

bool IsRecurrent(const ir::Node& node) {
  return node.op == "RNN" || node.op == "GRU" || node.op == "LSTM";
}

bool HasInput(const ir::Node& node, std::size_t i) {
  return i < node.inputs.size() && node.inputs[i] != ir::kAbsent;
}

void BecomeFused(ir::Node& node, ir::Node& fused) {
  node.op = fused.op;
  node.inputs = fused.inputs;
  node.attributes = fused.attributes;
  std::swap(node.name, fused.name);
}

}  // namespace poprt::passes
