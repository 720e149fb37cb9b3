#include "passes/lowering/lower_quantized_matmul.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "passes/constant_values.hpp"
#include "passes/gemm_constants.hpp"
#include "passes/lowering/byte_weights.hpp"
#include "passes/lowering/quantization_parameters.hpp"
#include "passes/rewrite.hpp"
#include "runtime/kernels/quantized/quantized.hpp"

namespace poprt::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::ValueId;

std::optional<GemmConstants> ConstantsOf(const Graph& graph, const Node& product) {
  if (product.op == "Gemm") return GemmConstantsOf(graph, product);
  const Tensor* weights = graph.ConstantOf(product.inputs[1]);
  if (weights == nullptr) return {};
  return GemmConstants{.weights = *weights, .transposed = false, .bias = {}};
}

/// Sums of that many products have 32 bits.
bool FitsSums(std::int64_t depth) {
  constexpr std::int64_t kLargestProduct = 255 * 128;
  return depth <= std::numeric_limits<std::int32_t>::max() / kLargestProduct;
}

Tensor Transposed(const Tensor& matrix) {
  const Shape& shape = matrix.shape();
  return kernels::RunOnce("Transpose", {matrix}, {{matrix.element(), {shape[1], shape[0]}}},
                          {{"perm", Ints{1, 0}}})
      .front();
}

bool Lower(Rewriter& rewriter, Node& node) {
  Graph& graph = rewriter.graph();
  if (node.op != "MatMul" && node.op != "Gemm") return false;
  const Node* dequantize = rewriter.Producer(node.inputs[0], "DequantizeLinear");
  if (dequantize == nullptr) return false;
  const TensorType& x = graph.type(dequantize->inputs[0]);
  const auto from = QuantizationParametersOf(graph, *dequantize);
  if (!from || !kernels::Contains(kernels::kByteTypes, x.element) || x.shape.size() < 2) {
    return false;
  }
  const TensorType& y = graph.type(node.outputs[0]);
  if (y.element != ElementType::kFloat32 || y.bytes() == 0) return false;
  const auto constants = ConstantsOf(graph, node);
  if (!constants || constants->weights.shape().size() != 2 || !FitsSums(x.shape.back())) {
    return false;
  }
  constexpr float kOfZeros = 1;
  auto weights = ByteWeightsOf(constants->weights, constants->transposed, kOfZeros);
  if (!weights) return false;

  const auto floats = [&](const char* what, const std::vector<double>& values) {
    const TensorType type{ElementType::kFloat32, {static_cast<std::int64_t>(values.size())}};
    return rewriter.AddConstant(node.name + what, FromDoubles(type, values));
  };
  std::vector<double> scales;
  for (const float scale : weights->scales) {
    scales.push_back(from->scale * static_cast<double>(scale));
  }
  const ValueId point =
      rewriter.AddConstant(node.name + "_x_point", FromDoubles({x.element, {}}, {{from->point}}));
  node.inputs = {dequantize->inputs[0],
                 rewriter.AddConstant(node.name + "_weights", constants->transposed
                                                                  ? Transposed(weights->integers)
                                                                  : weights->integers),
                 point, ir::kAbsent, floats("_scales", scales)};
  if (!constants->bias.empty()) node.inputs.push_back(floats("_bias", constants->bias));
  node.op = "IntegerMatMul";
  node.attributes = {};
  return true;
}

}  // namespace

absl::Status LowerQuantizedMatMul(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, Lower);
  return absl::OkStatus();
}

}  // namespace poprt::passes
