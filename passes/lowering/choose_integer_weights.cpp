#include "passes/lowering/choose_integer_weights.hpp"

#include "passes/rewrite.hpp"
#include "runtime/kernels/quantized/pack_integers.hpp"

namespace poprt::passes {
namespace {

/// Scales of shorter columns take more than the integers save.
constexpr std::int64_t kShortColumn = 16;

}  // namespace

absl::Status ChooseIntegerWeights(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, [](Rewriter& rewriter, ir::Node& node) {
    if (node.op != "FusedMatMul" || node.attributes.has("bits")) return false;
    const Tensor* weights = rewriter.graph().ConstantOf(node.inputs[1]);
    const bool transposed = node.attributes.get_int("trans_b", 0) != 0;
    if (weights == nullptr || weights->shape()[transposed ? 1 : 0] < kShortColumn) return false;
    const auto form = kernels::IntegerFormOf(*weights, transposed);
    if (!form) return false;
    node.attributes.set("bits", form->bits);
    node.attributes.set("block", form->block);
    return true;
  });
  return absl::OkStatus();
}

}  // namespace poprt::passes
