#include "passes/conversion/fuse_consecutive_affine.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "passes/constant_values.hpp"
#include "passes/conversion/channel_affine.hpp"
#include "passes/rewrite.hpp"

namespace poprt::passes {
namespace {

bool IsMulOrAdd(const ir::Node& node) { return node.op == "Mul" || node.op == "Add"; }

bool AreAll(const std::vector<double>& values, double wanted) {
  return std::ranges::all_of(values, [&](double value) { return value == wanted; });
}

/// `outer` after `inner`.
BatchNormFactors Composed(const BatchNormFactors& inner, const BatchNormFactors& outer) {
  BatchNormFactors composed = outer;
  for (std::size_t c = 0; c < composed.scale.size(); ++c) {
    composed.scale[c] *= inner.scale[c];
    composed.shift[c] += outer.scale[c] * inner.shift[c];
  }
  return composed;
}

bool Fuse(Rewriter& rewriter, ir::Node& node) {
  ir::Graph& graph = rewriter.graph();
  if (!IsMulOrAdd(node)) return false;
  std::optional<ChannelAffine> affine = ChannelAffineOf(graph, node);
  if (!affine) return false;
  int length = 1;
  while (rewriter.UsedOnlyBy(1, affine->x)) {
    const ir::Node* before = rewriter.Producer(affine->x);
    if (before == nullptr || !IsMulOrAdd(*before)) break;
    const std::optional<ChannelAffine> inner = ChannelAffineOf(graph, *before);
    if (!inner) break;
    affine = {{inner->x, Composed(inner->factors, affine->factors)}};
    ++length;
  }
  const bool scales = !AreAll(affine->factors.scale, 1);
  const bool shifts = !AreAll(affine->factors.shift, 0);
  if (length <= (scales ? 1 : 0) + (shifts ? 1 : 0) || (!scales && !shifts)) return false;

  const TensorType type = graph.type(node.outputs[0]);
  Shape per_channel(type.shape.size() - 1, 1);
  per_channel.front() = type.shape[1];
  const auto constant = [&](const std::vector<double>& values, std::string_view suffix) {
    return rewriter.AddConstant(node.name + std::string(suffix),
                                FromDoubles({type.element, per_channel}, values));
  };
  ir::ValueId x = affine->x;
  if (scales && shifts) {
    x = rewriter.Insert(graph.MakeNode("Mul", {x, constant(affine->factors.scale, "_scale")}, type,
                                       {}, node.name + "_mul"));
  }
  node.op = shifts ? "Add" : "Mul";
  node.inputs = {x, shifts ? constant(affine->factors.shift, "_shift")
                           : constant(affine->factors.scale, "_scale")};
  return true;
}

}  // namespace

absl::Status FuseConsecutiveAffine(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, Fuse);
  return absl::OkStatus();
}

}  // namespace poprt::passes
