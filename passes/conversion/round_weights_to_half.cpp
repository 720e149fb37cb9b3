#include "passes/conversion/round_weights_to_half.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "passes/rewrite.hpp"
#include "runtime/tensor/half.hpp"

namespace poprt::passes {
namespace {

constexpr std::size_t kWeights = 1;

/// Sums of squares: of numbers, and of what rounding takes from them.
struct Powers {
  double all = 0;
  double lost = 0;

  void Add(double number, double rounded) {
    all += number * number;
    lost += (number - rounded) * (number - rounded);
  }
  /// Within 2^-10, five times as much as is usual. False where numbers are infinite.
  bool IsKept() const { return lost <= 0x1p-20 * all; }
};

/// Nothing where rounding takes too much from a row or a column: numbers are too large for float16,
/// or as small as its least ones.
std::optional<Tensor> Rounded(const Tensor& weights) {
  Tensor rounded(weights.type());
  const auto from = weights.as<float>();
  const auto to = rounded.as_mutable<float>();
  const auto n = static_cast<std::size_t>(weights.shape().back());
  std::vector<Powers> columns(n);
  for (std::size_t first = 0; first < from.size(); first += n) {
    Powers row;
    for (std::size_t i = 0; i < n; ++i) {
      to[first + i] = static_cast<float>(Float16(from[first + i]));
      row.Add(from[first + i], to[first + i]);
      columns[i].Add(from[first + i], to[first + i]);
    }
    if (!row.IsKept()) return {};
  }
  if (!std::ranges::all_of(columns, &Powers::IsKept)) return {};
  return rounded;
}

}  // namespace

absl::Status RoundWeightsToHalf(ir::Graph& graph, const PassContext& context) {
  std::set<std::string> left;  // of the first sweep
  Rewrite(graph, [&](Rewriter& rewriter, ir::Node& node) {
    if (node.op != "MatMul" && node.op != "Gemm") return false;
    const Tensor* weights = rewriter.graph().ConstantOf(node.inputs[kWeights]);
    if (weights == nullptr || weights->element() != ElementType::kFloat32) return false;
    if (weights->shape().empty() || weights->count() == 0) return false;
    std::optional<Tensor> rounded = Rounded(*weights);
    if (!rounded) {
      if (!left.insert(node.name).second) return false;
      context.warn(absl::StrCat("model '", rewriter.graph().name, "': node '", node.name,
                                "' has weights that float16 is too narrow for, which stay as "
                                "they are"));
      return false;
    }
    if (*rounded == *weights) return false;
    node.inputs[kWeights] = rewriter.AddConstant(node.name + "_weights", *std::move(rounded));
    return true;
  });
  return absl::OkStatus();
}

}  // namespace poprt::passes
