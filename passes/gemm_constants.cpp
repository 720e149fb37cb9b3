#include "passes/gemm_constants.hpp"

#include "passes/constant_values.hpp"

namespace poprt::passes {

std::optional<Tensor> GemmWeightsOf(const ir::Graph& graph, const ir::Node& gemm) {
  const Tensor* constant = graph.ConstantOf(gemm.inputs[1]);
  if (constant == nullptr || constant->count() == 0 || !IsFloat(constant->element())) {
    return std::nullopt;
  }
  if (gemm.attributes.get_int("transA", 0) != 0) return std::nullopt;
  const auto alpha = static_cast<double>(gemm.attributes.get_float("alpha", 1));
  if (alpha == 1) return *constant;
  std::vector<double> values = ToDoubles(*constant);
  for (double& value : values) value *= alpha;
  return FromDoubles(constant->type(), values);
}

std::optional<GemmConstants> GemmConstantsOf(const ir::Graph& graph, const ir::Node& gemm) {
  std::optional<Tensor> weights = GemmWeightsOf(graph, gemm);
  if (!weights) return std::nullopt;
  GemmConstants constants{.weights = std::move(*weights),
                          .transposed = gemm.attributes.get_int("transB", 0) != 0,
                          .bias = {}};
  if (gemm.inputs.size() < 3 || gemm.inputs[2] == ir::kAbsent) return constants;
  const std::int64_t columns = constants.weights.shape()[constants.transposed ? 0 : 1];
  std::optional<std::vector<double>> bias = AlongAxis(graph, gemm.inputs[2], columns, 0);
  if (!bias) return std::nullopt;
  constants.bias = std::move(*bias);
  const auto beta = static_cast<double>(gemm.attributes.get_float("beta", 1));
  for (double& value : constants.bias) value *= beta;
  return constants;
}

}  // namespace poprt::passes
