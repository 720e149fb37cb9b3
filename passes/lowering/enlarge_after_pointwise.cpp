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
/// Channels of one pixel that are worth a Conv of their own.
constexpr std::int64_t kFewestRepeated = 16;

/// Some of the channels that a Conv reads.
struct Part {
  ValueId value;
  std::int64_t first;
  std::int64_t channels;
  const Node* enlarging;  ///< the Resize or Expand that makes them of a smaller image; or null
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

/// Whether the node repeats images of one pixel.
bool RepeatsPixel(const Graph& graph, const Node& expand) {
  const Shape& x = graph.type(expand.inputs[0]).shape;
  const Shape& y = graph.type(expand.outputs[0]).shape;
  return x.size() == y.size() && x[kChannelAxis] == y[kChannelAxis] &&
         std::all_of(x.begin() + kChannelAxis + 1, x.end(),
                     [](auto extent) { return extent == 1; });
}

/// The node that makes a value of a smaller image, if a Conv of so many results may come first.
const Node* EnlargingOf(Rewriter& rewriter, ValueId value, std::int64_t results) {
  const Graph& graph = rewriter.graph();
  const std::int64_t channels = graph.type(value).shape[kChannelAxis];
  if (const Node* expand = rewriter.Producer(value, "Expand")) {
    return channels >= kFewestRepeated && RepeatsPixel(graph, *expand) ? expand : nullptr;
  }
  const Node* resize = rewriter.UsedOnlyBy(1, value) ? rewriter.Producer(value, "Resize") : nullptr;
  return resize != nullptr && results <= channels && Enlarges(graph, *resize) ? resize : nullptr;
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
    parts.push_back({value, first, channels, EnlargingOf(rewriter, value, results)});
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
    if (parts.size() == 1) {
      const Attributes enlarging = Enlarging(parts[0]);
      return Become(parts[0].enlarging->op, {Small(parts[0], true)}, enlarging);
    }
    std::vector<Part> rest;
    std::vector<Part> resized;
    std::vector<Part> repeated;
    for (const Part& part : parts) {
      (part.enlarging == nullptr ? rest : IsResized(part) ? resized : repeated).push_back(part);
    }
    // The first one has the bias and all pixels, over which the sum repeats what has only one.
    std::vector<ValueId> terms;
    terms.reserve(parts.size());
    for (const Part& part : resized) terms.push_back(Enlarged(part, terms.empty()));
    if (!rest.empty()) terms.push_back(Product(rest, Joined(rest), terms.empty()));
    for (const Part& part : repeated) {
      terms.push_back(terms.empty() ? Enlarged(part, true) : Small(part, false));
    }
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
    Shape weights_shape = weights_.shape();
    weights_shape[1] = shape[kChannelAxis];
    Tensor weights({ElementType::kFloat32, weights_shape});
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
    return Product({part}, part.enlarging->inputs[0], has_bias);
  }

  ValueId Enlarged(const Part& part, bool has_bias) {
    const std::string op = part.enlarging->op;
    const Attributes enlarging = Enlarging(part);
    return insert_(op.c_str(), {Small(part, has_bias)}, result_, enlarging);
  }

  static bool IsResized(const Part& part) { return part.enlarging->op == "Resize"; }

  Attributes Enlarging(const Part& part) const {
    if (!IsResized(part)) return {{"shape", Ints(result_)}};
    Attributes attributes = part.enlarging->attributes;
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
  const Shape& result = graph.type(conv.outputs[0]).shape;
  if (weights == nullptr || weights->element() != ElementType::kFloat32) return false;
  const bool is_empty =
      ElementCount(graph.type(conv.inputs[0]).shape) == 0 || ElementCount(result) == 0;
  if (is_empty) return false;
  if (!IsPointwise(graph, conv)) return false;
  const std::vector<Part> parts = PartsOf(rewriter, conv.inputs[0], result[kChannelAxis]);
  const bool any = std::any_of(parts.begin(), parts.end(),
                               [](const Part& part) { return part.enlarging != nullptr; });
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
