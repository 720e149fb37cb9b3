#include "passes/conversion/fuse_consecutive_cast.hpp"

#include "passes/rewrite.hpp"

namespace poprt::passes {
namespace {

/// What decides which numbers a type holds.
struct Digits {
  bool is_float;
  bool is_signed;
  int significand;  ///< bits of an integer without sign, or of a float's significand
  int exponent;     ///< bits of a float's exponent
};

Digits DigitsOf(ElementType type) {
  switch (type) {
    case ElementType::kFloat64:
      return {true, true, 53, 11};
    case ElementType::kFloat32:
      return {true, true, 24, 8};
    case ElementType::kFloat16:
      return {true, true, 11, 5};
    case ElementType::kBFloat16:
      return {true, true, 8, 8};
    case ElementType::kFloat8E4M3FN:
    case ElementType::kFloat8E4M3FNUZ:
      return {true, true, 4, 4};
    case ElementType::kFloat8E5M2:
    case ElementType::kFloat8E5M2FNUZ:
      return {true, true, 3, 5};
    case ElementType::kFloat4E2M1:
      return {true, true, 2, 2};
    case ElementType::kFloat8E8M0:
      return {true, true, 1, 8};
    case ElementType::kInt4:
      return {false, true, 3, 0};
    case ElementType::kUint4:
      return {false, false, 4, 0};
    case ElementType::kInt2:
      return {false, true, 1, 0};
    case ElementType::kBool:
      return {false, false, 1, 0};
    case ElementType::kUint2:
      return {false, false, 2, 0};
    default:
      break;
  }
  const bool is_signed = type == ElementType::kInt8 || type == ElementType::kInt16 ||
                         type == ElementType::kInt32 || type == ElementType::kInt64;
  const int bits = static_cast<int>(ElementSize(type)) * 8;
  return {false, is_signed, is_signed ? bits - 1 : bits, 0};
}

/// Every value of `narrow` is a value of `wide`. Anything but zero becomes true, so bool holds bool
/// only; the floats of 8 and 4 bits differ in what zeros, NaNs and infinities they have.
bool Holds(ElementType wide, ElementType narrow) {
  if (wide == narrow) return true;
  if (wide == ElementType::kBool || IsNarrowFloat(wide)) return false;
  const Digits w = DigitsOf(wide);
  const Digits n = DigitsOf(narrow);
  if (n.is_float && (!w.is_float || w.exponent < n.exponent)) return false;
  if (n.is_signed && !w.is_signed) return false;
  // The largest integer that a float16 holds is far beyond 2^11, so digits decide for floats too.
  return w.significand >= n.significand;
}

/// Conversions to the 16-bit floats go through float32, which must not round first.
bool RoundsOnce(ElementType from, ElementType to) {
  const bool to_short = to == ElementType::kFloat16 || to == ElementType::kBFloat16;
  return !to_short || Holds(ElementType::kFloat32, from);
}

}  // namespace

absl::Status FuseConsecutiveCast(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, [](Rewriter& rewriter, ir::Node& node) {
    if (node.op != "Cast") return false;
    const ir::Node* inner = rewriter.Producer(node.inputs[0], "Cast");
    if (inner == nullptr) return false;
    const ir::Graph& g = rewriter.graph();
    const ElementType from = g.type(inner->inputs[0]).element;
    const ElementType between = g.type(inner->outputs[0]).element;
    if (!Holds(between, from) || !RoundsOnce(from, g.type(node.outputs[0]).element)) return false;
    node.inputs[0] = inner->inputs[0];
    return true;
  });
  return absl::OkStatus();
}

}  // namespace poprt::passes
