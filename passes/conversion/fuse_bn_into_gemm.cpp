#include "passes/conversion/fuse_bn_into_gemm.hpp"

#include <utility>
#include <vector>

#include "passes/constant_values.hpp"
#include "passes/conversion/batch_norm_factors.hpp"
#include "passes/gemm_constants.hpp"
#include "passes/rewrite.hpp"

namespace poprt::passes {
absl::Status FuseBnIntoGemm(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, [](Rewriter& rewriter, ir::Node& node) {
    const auto factors = BatchNormFactorsOf(rewriter.graph(), node);
    if (!factors) return false;
    ir::Node* gemm = rewriter.Producer(node.inputs[0], "Gemm");
    if (gemm == nullptr || !rewriter.UsedOnlyBy(1, gemm->outputs[0])) return false;
    const auto constants = GemmConstantsOf(rewriter.graph(), *gemm);
    if (!constants) return false;

    const Tensor& weights = constants->weights;
    std::vector<double> scaled = ToDoubles(weights);
    const std::size_t columns = factors->scale.size();
    const std::size_t rows = columns == 0 ? 0 : scaled.size() / columns;
    for (std::size_t i = 0; i < scaled.size(); ++i) {
      scaled[i] *= factors->scale[constants->transposed ? i / rows : i % columns];
    }
    std::vector<double> bias = factors->shift;
    for (std::size_t c = 0; c < bias.size() && !constants->bias.empty(); ++c) {
      bias[c] += constants->bias[c] * factors->scale[c];
    }
    const TensorType bias_type{weights.element(), {static_cast<std::int64_t>(columns)}};
    node.inputs = {
        gemm->inputs[0],
        rewriter.AddConstant(gemm->name + "_weights", FromDoubles(weights.type(), scaled)),
        rewriter.AddConstant(gemm->name + "_bias", FromDoubles(bias_type, bias))};
    node.op = gemm->op;
    node.attributes = gemm->attributes;
    node.attributes.erase("alpha");
    node.attributes.erase("beta");
    std::swap(node.name, gemm->name);
    return true;
  });
  return absl::OkStatus();
}

}  // namespace poprt::passes
