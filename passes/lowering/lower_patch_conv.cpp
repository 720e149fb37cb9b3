#include "passes/lowering/lower_patch_conv.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "passes/lowering/blocked_operator.hpp"
#include "passes/lowering/conv_window.hpp"
#include "passes/lowering/fused_operator.hpp"
#include "passes/lowering/node_inserter.hpp"
#include "passes/lowering/strided_view.hpp"
#include "passes/rewrite.hpp"
#include "runtime/kernels/window/window.hpp"

namespace poprt::passes {
namespace {

using ir::Node;
using ir::ValueId;

/// Of smaller patches, and of fewer, moving pixels takes longer than is gained.
constexpr std::int64_t kFewestTaps = 128;
constexpr std::int64_t kFewestPatches = 16;

/// An image of few channels and patches of it.
struct Patches {
  Shape x;
  Shape w;
  Shape y;

  std::int64_t depth() const { return w[1] * w[2] * w[3]; }
  std::int64_t pixels() const { return y[2] * y[3]; }
};

bool IsOfPatches(const ir::Graph& graph, const Node& conv, const Patches& patches) {
  if (conv.attributes.get_int("group", 1) != 1 || patches.x[1] >= kBlock) return false;
  const kernels::Window window = WindowOf(graph, conv);
  const auto is_zero = [](std::int64_t pad) { return pad == 0; };
  return window.kernel == window.strides && window.dilations == Ints{1, 1} &&
         std::ranges::all_of(window.pads_begin, is_zero) &&
         std::ranges::all_of(window.pads_end, is_zero) &&
         patches.w[2] * patches.w[3] >= kFewestTaps &&
         patches.x[0] * patches.pixels() >= kFewestPatches;
}

/// [B, pixels, depth]. What is left of the image behind the last patches is cut off.
ValueId RowsOfPatches(NodeInserter& insert, ValueId image, const Patches& patches) {
  const auto& [x, w, y] = patches;
  const Shape whole{x[0], x[1], y[2] * w[2], y[3] * w[3]};
  if (whole != x) {
    image = insert("Slice", {image}, whole,
                   {{"axes", Ints{2, 3}},
                    {"ends", Ints{whole[2], whole[3]}},
                    {"starts", Ints{0, 0}},
                    {"steps", Ints{1, 1}}});
  }
  const Shape cut{x[0], x[1], y[2], w[2], y[3], w[3]};
  const Shape moved{x[0], y[2], y[3], x[1], w[2], w[3]};
  const Shape rows{x[0], patches.pixels(), patches.depth()};
  image = insert("Reshape", {image}, cut, {{"shape", cut}});
  image = insert("Transpose", {image}, moved, {{"perm", Ints{0, 2, 4, 1, 3, 5}}});
  return insert("Reshape", {image}, rows, {{"shape", rows}});
}

bool Lower(Rewriter& rewriter, Node& conv) {
  ir::Graph& graph = rewriter.graph();
  if (conv.op != "FusedConv" || HasInput(conv, kResidualInput)) return false;
  const Tensor* constant = graph.ConstantOf(conv.inputs[1]);
  if (constant == nullptr || !CanBlock(graph.type(conv.inputs[0])) ||
      !CanBlock(graph.type(conv.outputs[0]))) {
    return false;
  }
  const Tensor filters = *constant;
  const Patches patches{.x = graph.type(conv.inputs[0]).shape,
                        .w = filters.shape(),
                        .y = graph.type(conv.outputs[0]).shape};
  if (!IsOfPatches(graph, conv, patches)) return false;
  NodeInserter insert(rewriter, conv.name);
  std::vector<ValueId> inputs = conv.inputs;
  inputs[0] = RowsOfPatches(insert, inputs[0], patches);
  inputs[1] =
      rewriter.AddConstant(graph.value(inputs[1]).name,
                           filters.WithType({filters.element(), {patches.w[0], patches.depth()}}));
  const Shape& y = patches.y;
  const ValueId product = insert("FusedMatMul", std::move(inputs), {y[0], patches.pixels(), y[1]},
                                 ProductAttributes(conv));
  const Shape image{y[0], y[2], y[3], y[1]};
  conv.inputs = {insert("Reshape", {product}, image, {{"shape", image}})};
  conv.op = "Transpose";
  conv.attributes = {{"perm", Ints{0, 3, 1, 2}}};
  return true;
}

/// A Transpose, of any in the graph, of what was transposed before, that holds all elements of what
/// they began with in their order.
bool Undo(Rewriter& rewriter, Node& node) {
  if (node.op != "Transpose") return false;
  const ir::Graph& graph = rewriter.graph();
  const StridedView view = ViewThrough(rewriter, node.outputs[0], false);
  const StridedView whole = WholeView(graph, node.outputs[0]);
  const Shape shape = whole.shape;
  if (view.source == node.outputs[0] || view.source == node.inputs[0] ||
      ElementCount(graph.type(view.source).shape) != ElementCount(shape) ||
      !HoldsAllOf(view, shape, whole.strides)) {
    return false;
  }
  node.op = "Reshape";
  node.inputs = {view.source};
  node.attributes = {{"shape", shape}};
  return true;
}

}  // namespace

absl::Status LowerPatchConv(ir::Graph& graph, const PassContext&) {
  try {
    if (Rewrite(graph, Lower)) Rewrite(graph, Undo);
  } catch (const std::runtime_error& error) {
    return absl::InvalidArgumentError(error.what());
  }
  return absl::OkStatus();
}

}  // namespace poprt::passes
