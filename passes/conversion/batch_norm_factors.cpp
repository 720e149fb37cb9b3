#include "passes/conversion/batch_norm_factors.hpp"

#include <cmath>

#include "passes/constant_values.hpp"

namespace poprt::passes {

std::optional<BatchNormFactors> BatchNormFactorsOf(const ir::Graph& graph, const ir::Node& node) {
  if (node.op != "BatchNormalization" || node.inputs.size() != 5) return std::nullopt;
  if (node.outputs.size() != 1 || node.attributes.get_int("training_mode", 0) != 0) {
    return std::nullopt;
  }
  std::vector<std::vector<double>> parameters;
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    const Tensor* constant = graph.ConstantOf(node.inputs[i]);
    if (constant == nullptr) return std::nullopt;
    parameters.push_back(ToDoubles(*constant));
  }
  for (const std::vector<double>& parameter : parameters) {
    if (parameter.empty() || parameter.size() != parameters[0].size()) return std::nullopt;
  }
  const auto epsilon = static_cast<double>(node.attributes.get_float("epsilon", 1e-5F));
  BatchNormFactors factors;
  for (std::size_t c = 0; c < parameters[0].size(); ++c) {
    const double scale = parameters[0][c] / std::sqrt(parameters[3][c] + epsilon);
    factors.scale.push_back(scale);
    factors.shift.push_back(parameters[1][c] - parameters[2][c] * scale);
  }
  return factors;
}

}  // namespace poprt::passes
