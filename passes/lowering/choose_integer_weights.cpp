#include "passes/lowering/choose_integer_weights.hpp"

#include "passes/rewrite.hpp"
#include "runtime/kernels/quantized/pack_integers.hpp"

namespace poprt::passes {
namespace {

/// Scales of shorter columns take more than the integers save.
constexpr std::int64_t kShortColumn = 16;
/// With weights of 16 bits, rounding what they multiply takes more than fewer products save.
constexpr std::int64_t kShortWideColumn = 32;
constexpr std::int64_t kFewestWideColumns = 96;

bool Pays(const kernels::IntegerForm& form, std::int64_t depth, std::int64_t columns) {
  return form.bits < kernels::kWideBits ||
         (depth >= kShortWideColumn && columns >= kFewestWideColumns);
}

}  // namespace

absl::Status ChooseIntegerWeights(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, [](Rewriter& rewriter, ir::Node& node) {
    if (node.op != "FusedMatMul" || node.attributes.has("bits")) return false;
    const Tensor* weights = rewriter.graph().ConstantOf(node.inputs[1]);
    const bool transposed = node.attributes.get_int("trans_b", 0) != 0;
    if (weights == nullptr) return false;
    const std::int64_t depth = weights->shape()[transposed ? 1 : 0];
    if (depth < kShortColumn) return false;
    const auto form = kernels::IntegerFormOf(*weights, transposed);
    if (!form || !Pays(*form, depth, weights->shape()[transposed ? 0 : 1])) return false;
    node.attributes.set("bits", form->bits);
    node.attributes.set("block", form->block);
    return true;
  });
  return absl::OkStatus();
}

}  // namespace poprt::passes
