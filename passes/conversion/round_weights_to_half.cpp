#include "passes/conversion/round_weights_to_half.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "passes/rewrite.hpp"
#include "runtime/tensor/half.hpp"

namespace poprt::passes {
namespace {

constexpr std::size_t kWeights = 1;

/// Nothing where a number has no finite neighbour in float16.
std::optional<Tensor> Rounded(const Tensor& weights) {
  Tensor rounded(weights.type());
  const auto from = weights.as<float>();
  const auto to = rounded.as_mutable<float>();
  for (std::size_t i = 0; i < from.size(); ++i) {
    to[i] = static_cast<float>(Float16(from[i]));
    if (!std::isfinite(to[i])) return {};
  }
  return rounded;
}

bool WasRounded(const Tensor& weights) {
  const auto values = weights.as<float>();
  return std::all_of(values.begin(), values.end(),
                     [](float x) { return static_cast<float>(Float16(x)) == x; });
}

}  // namespace

absl::Status RoundWeightsToHalf(ir::Graph& graph, const PassContext& context) {
  std::set<std::string> left;  // of the first sweep
  Rewrite(graph, [&](Rewriter& rewriter, ir::Node& node) {
    if (node.op != "MatMul" && node.op != "Gemm") return false;
    const Tensor* weights = rewriter.graph().ConstantOf(node.inputs[kWeights]);
    if (weights == nullptr || weights->element() != ElementType::kFloat32) return false;
    if (WasRounded(*weights)) return false;
    std::optional<Tensor> rounded = Rounded(*weights);
    if (!rounded) {
      if (!left.insert(node.name).second) return false;
      context.warn(absl::StrCat("model '", rewriter.graph().name, "': node '", node.name,
                                "' has weights beyond the range of float16, which stay as they "
                                "are"));
      return false;
    }
    node.inputs[kWeights] = rewriter.AddConstant(node.name + "_weights", *std::move(rounded));
    return true;
  });
  return absl::OkStatus();
}

}  // namespace poprt::passes
