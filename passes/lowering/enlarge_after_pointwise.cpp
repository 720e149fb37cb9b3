#include "passes/lowering/enlarge_after_pointwise.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "passes/lowering/blocked_operator.hpp"
#include "passes/lowering/fused_operator.hpp"
#include "passes/lowering/node_inserter.hpp"
#include "passes/rewrite.hpp"

namespace poprt::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::ValueId;

constexpr std::int64_t kChannelAxis = 1;

/// Some of the channels that a Conv reads.
struct Part {
  ValueId value;
  std::int64_t first;
  std::int64_t channels;
  const Node* resize;  ///< that makes them of a smaller image; or null
};

/// Whether the node enlarges images, every pixel as a mean of pixels.
bool Enlarges(const Graph& graph, const Node& resize) {
  const bool may_extrapolate = resize.attributes.get_string("coordinate_transformation_mode",
                                                            "half_pixel") == "tf_crop_and_resize";
  if (may_extrapolate || !ResizesPixels(graph, resize)) return false;
  const Shape& x = graph.type(resize.inputs[0]).shape;
  const Shape& y = graph.type(resize.outputs[0]).shape;
  return x[2] <= y[2] && x[3] <= y[3] && x != y;
}

std::vector<Part> PartsOf(Rewriter& rewriter, ValueId input, std::int64_t results) {
  const Graph& graph = rewriter.graph();
  std::vector<ValueId> values{input};
  const Node* concat = rewriter.UsedOnlyBy(1, input) ? rewriter.Producer(input, "Concat") : nullptr;
  if (concat != nullptr && concat->attributes.get_int("axis", 0) == kChannelAxis) {
    values = concat->inputs;
  }
  std::vector<Part> parts;
  std::int64_t first = 0;
  for (const ValueId value : values) {
    const std::int64_t channels = graph.type(value).shape[kChannelAxis];
    if (channels == 0) continue;
    const Node* resize =
        rewriter.UsedOnlyBy(1, value) ? rewriter.Producer(value, "Resize") : nullptr;
    const bool moves = resize != nullptr && results <= channels && Enlarges(graph, *resize);
    parts.push_back({value, first, channels, moves ? resize : nullptr});
    first += channels;
  }
  return parts;
}

/// Those of some channels of weights [O, C, 1, 1], behind `to`.
void AppendWeights(const Tensor& weights, const Part& part, std::int64_t first, Tensor& to) {
  const auto from = weights.as<float>();
  const std::int64_t all = weights.shape()[1];
  const std::int64_t step = to.shape()[1];
  for (std::int64_t o = 0; o < weights.shape()[0]; ++o) {
    std::memcpy(to.as_mutable<float>().data() + o * step + first,
                from.data() + o * all + part.first,
                static_cast<std::size_t>(part.channels) * sizeof(float));
  }
}

/// Rewrites one Conv.
class Mover {
 public:
  Mover(Rewriter& rewriter, Node& conv)
      : rewriter_(rewriter),
        conv_(conv),
        insert_(rewriter, conv.name),
        weights_(*rewriter.graph().ConstantOf(conv.inputs[1])),
        result_(rewriter.graph().type(conv.outputs[0]).shape) {}

  /// Makes the Conv the sum of the parts' results, or what enlarges the only one.
  void Move(const std::vector<Part>& parts) {
    std::vector<Part> rest;
    std::vector<Part> moved;
    for (const Part& part : parts) (part.resize == nullptr ? rest : moved).push_back(part);
    const bool needs_bias = rest.empty();  // of the first one moved
    if (parts.size() == 1) {
      const Attributes resizing = Resizing(moved[0]);
      return Become("Resize", {Small(moved[0], needs_bias)}, resizing);
    }
    std::vector<ValueId> terms;
    for (const Part& part : moved) {
      const Attributes resizing = Resizing(part);
      const ValueId small = Small(part, needs_bias && terms.empty());
      terms.push_back(insert_("Resize", {small}, result_, resizing));
    }
    if (!rest.empty()) terms.push_back(Product(rest, Joined(rest), true));
    ValueId sum = terms[0];
    for (std::size_t i = 1; i + 1 < terms.size(); ++i) {
      sum = insert_("Add", {sum, terms[i]}, result_, {});
    }
    Become("Add", {sum, terms.back()}, {});
  }

 private:
  ValueId Joined(const std::vector<Part>& parts) {
    if (parts.size() == 1) return parts[0].value;
    std::vector<ValueId> values;
    Shape shape = rewriter_.graph().type(parts[0].value).shape;
    shape[kChannelAxis] = 0;
    for (const Part& part : parts) {
      values.push_back(part.value);
      shape[kChannelAxis] += part.channels;
    }
    return insert_("Concat", std::move(values), shape, {{"axis", kChannelAxis}});
  }

  /// The Conv of these channels, which `x` holds.
  ValueId Product(const std::vector<Part>& parts, ValueId x, bool has_bias) {
    Shape shape = rewriter_.graph().type(x).shape;
    Tensor weights({ElementType::kFloat32, {weights_.shape()[0], shape[kChannelAxis], 1, 1}});
    std::int64_t first = 0;
    for (const Part& part : parts) {
      AppendWeights(weights_, part, first, weights);
      first += part.channels;
    }
    std::vector<ValueId> inputs{x, rewriter_.AddConstant(conv_.name + "_part", std::move(weights))};
    if (has_bias && HasInput(conv_, kBiasInput)) inputs.push_back(conv_.inputs[kBiasInput]);
    shape[kChannelAxis] = result_[kChannelAxis];
    return insert_("Conv", std::move(inputs), shape, conv_.attributes);
  }

  /// The result of a part before it is enlarged.
  ValueId Small(const Part& part, bool has_bias) {
    return Product({part}, part.resize->inputs[0], has_bias);
  }

  Attributes Resizing(const Part& part) const {
    Attributes attributes = part.resize->attributes;
    if (attributes.has("sizes")) attributes.set("sizes", Ints(result_));
    return attributes;
  }

  void Become(std::string_view op, std::vector<ValueId> inputs, Attributes attributes) {
    conv_.op = op;
    conv_.inputs = std::move(inputs);
    conv_.attributes = std::move(attributes);
  }

  Rewriter& rewriter_;
  Node& conv_;
  NodeInserter insert_;
  Tensor weights_;
  Shape result_;
};

bool Rule(Rewriter& rewriter, Node& conv) {
  const Graph& graph = rewriter.graph();
  if (conv.op != "Conv" || conv.attributes.get_int("group", 1) != 1) return false;
  const Tensor* weights = graph.ConstantOf(conv.inputs[1]);
  const TensorType& result = graph.type(conv.outputs[0]);
  if (weights == nullptr || weights->element() != ElementType::kFloat32) return false;
  if (!CanBlock(graph.type(conv.inputs[0])) || !CanBlock(result)) return false;
  if (!IsPointwise(graph, conv)) return false;
  const std::vector<Part> parts = PartsOf(rewriter, conv.inputs[0], result.shape[kChannelAxis]);
  const bool any = std::any_of(parts.begin(), parts.end(),
                               [](const Part& part) { return part.resize != nullptr; });
  if (any) Mover(rewriter, conv).Move(parts);
  return any;
}

}  // namespace

absl::Status EnlargeAfterPointwise(ir::Graph& graph, const PassContext&) {
  try {
    Rewrite(graph, Rule);
  } catch (const std::runtime_error& error) {
    return absl::InvalidArgumentError(error.what());
  }
  return absl::OkStatus();
}

}  // namespace poprt::passes
