#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "compiler/frontend/graph_builder.hpp"
#include "compiler/frontend/open_numbers.hpp"
#include "compiler/ops/random_ops.hpp"
#include "runtime/kernels/element_types.hpp"
#include "runtime/kernels/kernel.hpp"

// Nodes that read values with open axes, or make such values as long as a count says.
namespace poprt::frontend {
namespace {

using ir::ValueId;

/// Operands of nodes and bytes of constants that are compared, at most.
constexpr std::size_t kMostOperands = 4;
constexpr std::size_t kSmallConstant = 1024;

Tensor IntTensor(Shape shape, const Ints& values) {
  return Tensor::Of<std::int64_t>(ElementType::kInt64, std::move(shape), values);
}

std::size_t AxisOf(std::int64_t axis, std::size_t rank) {
  return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
}

/// The extent that a TopK selects from, 0 if there is no such axis.
std::int64_t LongestOfTopK(const ir::Graph& graph, const SourceNode& node) {
  const Shape& shape = graph.type(node.inputs[0]).shape;
  const std::size_t axis = AxisOf(node.attributes.get_int("axis", -1), shape.size());
  return axis < shape.size() ? shape[axis] : 0;
}

template <typename T>
T FillValue(ops::Fill fill) {
  if (fill == ops::Fill::kOne) return T(1);
  if (fill == ops::Fill::kZero) return T(0);
  const bool highest = fill == ops::Fill::kHighest;
  if constexpr (std::is_integral_v<T>) {
    return highest ? std::numeric_limits<T>::max() : std::numeric_limits<T>::lowest();
  } else if constexpr (std::is_same_v<T, kernels::Bool>) {
    return T(highest);
  } else {
    constexpr auto kInfinity = std::numeric_limits<float>::infinity();
    return T(highest ? kInfinity : -kInfinity);
  }
}

/// A scalar of that type.
Tensor FillTensor(ElementType element, ops::Fill fill) {
  return kernels::VisitElement<Tensor, kernels::kAllTypes>(element,
                                                           [&]<typename T>(std::type_identity<T>) {
                                                             const T value = FillValue<T>(fill);
                                                             return Tensor({element, {}}, &value);
                                                           });
}

/// The axis of the result that element `index` of a node's static input is the extent of.
std::size_t AxisOfExtent(const ops::InferenceCall& call, const Shape& result, std::size_t index) {
  const Attributes& attributes = call.attributes;
  if (call.op == "TopK") return AxisOf(attributes.get_int("axis", -1), result.size());
  if (call.op == "Expand") return index + result.size() - attributes.get_ints("shape").size();
  const Ints axes = attributes.get_ints("axes");
  return call.op == "Slice" && index < axes.size() ? AxisOf(axes[index], result.size()) : index;
}

/// Whether a node whose operands' types say all makes a result as long as a count along the axis.
bool MakesExtent(const ops::InferenceCall& call, const Shape& result, std::size_t index,
                 std::size_t axis) {
  const auto is_or_absent = [&](const char* name, std::size_t i, std::int64_t value) {
    const Ints values = call.attributes.get_ints(name);
    return i >= values.size() || values[i] == value;
  };
  if (call.op == "Range") return is_or_absent("start", 0, 0) && is_or_absent("delta", 0, 1);
  if (call.op == "Slice") {
    return is_or_absent("starts", index, 0) && is_or_absent("steps", index, 1);
  }
  if (call.op == "Expand") {
    const Shape& from = call.input(0).shape;
    const std::size_t missing = result.size() - from.size();
    return axis < missing || from[axis - missing] == 1;
  }
  return call.op == "ConstantOfShape" || call.op == "TopK";
}

/// The attributes of a call whose "shape" is told the extent `index` of its operand: with
/// ops::kOpenExtent there only.
Attributes ShapeWithOpenExtent(const ops::InferenceCall& call, const Shape& result,
                               std::size_t index) {
  Attributes attributes = call.attributes;
  if (call.op != "Reshape" && call.op != "Expand") return attributes;
  Ints shape = call.op == "Reshape" ? result : attributes.get_ints("shape");
  shape[index] = ops::kOpenExtent;
  attributes.set("shape", shape);
  return attributes;
}

}  // namespace

bool GraphBuilder::TakeOpenExtent(const ops::StaticInput& input, ValueId value, SourceNode& node,
                                  std::optional<OpenElement>* open) const {
  const auto numbers = input.is_extent ? OpenNumbersOf(graph_, open_, value) : std::nullopt;
  if (!numbers) return false;
  Ints bounds;
  for (const OpenNumber& number : *numbers) {
    bounds.push_back(number.value);
    if (number.count == ir::kAbsent) continue;
    if (*open) return false;
    *open = {.index = bounds.size() - 1, .count = number.count};
    // The count of something else may be bounded higher than the axis is long.
    if (node.op == "TopK") bounds.back() = std::min(bounds.back(), LongestOfTopK(graph_, node));
  }
  node.attributes.set(input.attribute, std::move(bounds));
  if (!input.type_attribute.empty()) {
    node.attributes.set(input.type_attribute,
                        static_cast<std::int64_t>(graph_.type(value).element));
  }
  return true;
}

absl::Status GraphBuilder::PlaceOfOpenShape(SourceNode node, const ops::OpDef& def,
                                            const ops::InferenceCall& call,
                                            const std::vector<TensorType>& types,
                                            const OpenElement& open) {
  const OpenExtents::Count count = *open_.CountOf(graph_, open.count);
  const Shape& shape = types[0].shape;
  auto refused = absl::InvalidArgumentError(
      "is to make " + ToString(types[0]) + ", of which an extent depends on data, from " +
      count.source +
      ": it cannot at run time; freeze the inputs that the extent depends on, or end the model "
      "before this node");
  const std::size_t axis = AxisOfExtent(call, shape, open.index);
  if (open_.AnyOf(node.inputs)) {
    // It may be told the extent that its operand has.
    const Attributes told = ShapeWithOpenExtent(call, shape, open.index);
    const ops::InferenceCall open_call{call.op, call.inputs, told, call.outputs};
    const auto carried = open_.Carry(graph_, node.inputs, open_call, types);
    if (carried.ok() && carried->from->count == open.count && carried->to.axis == axis) {
      return PlaceOpen(std::move(node), def, open_call, types);
    }
    if (carried.ok()) return refused;
    const auto filled = def.name == "TopK" ? open_.Fill(node.inputs, call) : std::nullopt;
    if (!filled) return carried.status();
    if (absl::Status status = FillInputs(node, filled->how.fills); !status.ok()) return status;
  }
  if (!MakesExtent(call, shape, open.index, axis)) return refused;
  const auto extent = AtMost(node.name, open.count, count.bound, shape[axis]);
  if (!extent.ok()) return extent.status();
  for (const ValueId result : Append(std::move(node), types)) {
    if (shape[axis] == 0) continue;
    open_.Set(result, {.axis = axis, .count = *extent, .source = count.source});
  }
  return absl::OkStatus();
}

const ir::Node* GraphBuilder::TwinOf(const SourceNode& node) const {
  // As exporters write x[mask] and y[mask]: the mask is selected by, and maybe converted, each
  // time.
  constexpr int kNodesBack = 3;
  constexpr int kMostCandidates = 64;
  int candidates = 0;
  for (auto it = graph_.nodes.rbegin(); it != graph_.nodes.rend(); ++it) {
    const bool is_alike = it->op == node.op && it->inputs.size() == node.inputs.size() &&
                          it->outputs.size() == node.outputs.size() &&
                          it->attributes == node.attributes;
    if (!is_alike) continue;
    if (++candidates > kMostCandidates) return nullptr;
    bool are_equal = true;
    for (std::size_t i = 0; are_equal && i < node.inputs.size(); ++i) {
      are_equal = AreEqual(it->inputs[i], node.inputs[i], kNodesBack);
    }
    if (are_equal) return &*it;
  }
  return nullptr;
}

bool GraphBuilder::AreEqual(ValueId a, ValueId b, int nodes_back) const {
  if (a == b) return true;
  if (a == ir::kAbsent || b == ir::kAbsent || nodes_back == 0) return false;
  const Tensor* constant_a = graph_.ConstantOf(a);
  const Tensor* constant_b = graph_.ConstantOf(b);
  if (constant_a != nullptr && constant_b != nullptr) {
    return constant_a->type() == constant_b->type() && constant_a->bytes() <= kSmallConstant &&
           std::equal(constant_a->data(), constant_a->data() + constant_a->bytes(),
                      constant_b->data());
  }
  const ir::Node* const from_a = ProducerOf(a);
  const ir::Node* const from_b = ProducerOf(b);
  if (from_a == nullptr || from_b == nullptr || ops::IsRandom(from_a->op)) return false;
  if (!from_a->regions.empty() || !from_b->regions.empty()) return false;
  if (from_a->op != from_b->op || from_a->inputs.size() != from_b->inputs.size()) return false;
  if (from_a->attributes != from_b->attributes || from_a->inputs.size() > kMostOperands)
    return false;
  const auto place = [](const ir::Node& node, ValueId value) {
    return std::find(node.outputs.begin(), node.outputs.end(), value) - node.outputs.begin();
  };
  if (place(*from_a, a) != place(*from_b, b)) return false;
  for (std::size_t i = 0; i < from_a->inputs.size(); ++i) {
    if (!AreEqual(from_a->inputs[i], from_b->inputs[i], nodes_back - 1)) return false;
  }
  return true;
}

absl::Status GraphBuilder::PlaceOpen(SourceNode node, const ops::OpDef& def,
                                     const ops::InferenceCall& call,
                                     const std::vector<TensorType>& types) {
  if (def.name == "Shape") return PlaceShape(std::move(node));
  if (def.name == "Size") return PlaceSize(std::move(node));
  const auto carried = open_.Carry(graph_, node.inputs, call, types);
  if (!carried.ok()) {
    const absl::StatusOr<bool> placed = PlaceFilled(node, def, call, types);
    if (!placed.ok()) return placed.status();
    return *placed ? absl::OkStatus() : carried.status();
  }
  // The operand whose extent it is says how long it may be.
  std::int64_t longest = 0;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const OpenExtent* extent = open_.Find(node.inputs[i]);
    if (extent != nullptr) longest = call.input(i).shape[extent->axis];
  }
  const std::int64_t bound = types[0].shape[carried->to.axis];
  const absl::StatusOr<ValueId> count = CarriedCount(node.name, *carried, longest, bound);
  if (!count.ok()) return count.status();
  const std::int64_t least = carried->from->least - carried->to.skipped;
  const OpenExtent extent{.axis = carried->to.axis,
                          .count = *count,
                          .source = carried->from->source,
                          .least = std::clamp<std::int64_t>(least, 0, bound)};
  for (const ValueId output : Append(std::move(node), types)) {
    if (extent.least < bound) open_.Set(output, extent);
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> GraphBuilder::PlaceFilled(SourceNode node, const ops::OpDef& def,
                                               const ops::InferenceCall& call,
                                               const std::vector<TensorType>& types) {
  if (def.name == "ReduceMean") return PlaceMean(std::move(node));
  if (def.name == "Gather" || def.name == "GatherND")
    return PlaceGather(std::move(node), def, call, types);
  if (def.name == "ScatterND" || def.name == "ScatterElements") {
    return PlaceScatter(std::move(node));
  }
  if (def.name == "Concat") return PlaceConcat(std::move(node), types);
  const auto filled = open_.Fill(node.inputs, call);
  if (!filled) return false;
  const OpenExtent extent = *filled->from;
  if (absl::Status status = FillInputs(node, filled->how.fills); !status.ok()) return status;
  if (def.name == "NonMaxSuppression") {
    // Boxes beyond the extent have infinitely low scores.
    constexpr std::size_t kThreshold = 4;
    node.inputs.resize(std::max(node.inputs.size(), kThreshold + 1), ir::kAbsent);
    if (node.inputs[kThreshold] == ir::kAbsent) {
      const float lowest = std::numeric_limits<float>::lowest();
      node.inputs[kThreshold] =
          AddConstant(node.name + "/threshold", Tensor({ElementType::kFloat32, {}}, &lowest));
    }
  }
  for (const ValueId output : PlaceTyped(std::move(node), def, call, types)) {
    if (filled->how.axis) {
      open_.Set(output,
                {.axis = *filled->how.axis, .count = extent.count, .source = extent.source});
    }
  }
  return true;
}

absl::Status GraphBuilder::FillInputs(SourceNode& node, const std::vector<ops::Fill>& fills) {
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (open_.Find(node.inputs[i]) == nullptr) continue;
    const absl::StatusOr<ValueId> input = Filled(node.name, node.inputs[i], fills[i]);
    if (!input.ok()) return input.status();
    node.inputs[i] = *input;
  }
  return absl::OkStatus();
}

ValueId GraphBuilder::Closed(const std::string& name, ValueId value) {
  SourceNode node{.name = FreeName(name + "/closed"),
                  .op = "Identity",
                  .inputs = {value},
                  .outputs = {""},
                  .attributes = {}};
  reserved_.insert(node.name);
  return Append(std::move(node), {graph_.type(value)})[0];
}

absl::StatusOr<ValueId> GraphBuilder::IsWithin(const std::string& name, const OpenExtent& extent,
                                               const Shape& shape) {
  Ints index_shape(shape.size() - extent.axis, 1);
  index_shape[0] = shape[extent.axis];
  auto index = Add(name + "/index", "Range", {},
                   {{"start", Ints{0}},
                    {"limit", Ints{index_shape[0]}},
                    {"delta", Ints{1}},
                    {"dtype", static_cast<std::int64_t>(ElementType::kInt64)}});
  if (index.ok() && index_shape.size() > 1) {
    index = Add(name + "/index", "Reshape", {*index}, {{"shape", index_shape}});
  }
  if (!index.ok()) return index;
  return Add(name + "/within", "Less", {*index, extent.count}, {});
}

absl::StatusOr<ValueId> GraphBuilder::Filled(const std::string& name, ValueId value,
                                             ops::Fill fill) {
  const OpenExtent extent = *open_.Find(value);
  const ValueId closed = Closed(name, value);
  if (fill == ops::Fill::kAny) return closed;
  const TensorType type = graph_.type(value);
  const auto within = IsWithin(name, extent, type.shape);
  if (!within.ok()) return within.status();
  const ValueId beyond = AddConstant(name + "/beyond", FillTensor(type.element, fill));
  return Add(name + "/filled", "Where", {*within, closed, beyond}, {});
}

absl::StatusOr<bool> GraphBuilder::PlaceMean(SourceNode node) {
  const TensorType type = graph_.type(node.inputs[0]);
  if (!IsFloat(type.element)) return false;
  const std::string name = node.name;
  const OpenExtent extent = *open_.Find(node.inputs[0]);
  const auto to = [](ElementType element) {
    return Attributes{{"to", static_cast<std::int64_t>(element)}};
  };
  // The mean over all, by the share of it that is there. Half types have too few numbers for that.
  const bool is_double = type.element == ElementType::kFloat64;
  const Attributes wide = to(is_double ? ElementType::kFloat64 : ElementType::kFloat32);
  auto mean = Filled(name, node.inputs[0], ops::Fill::kZero);
  if (mean.ok()) mean = Add(name + "/wide", "Cast", {*mean}, wide);
  if (mean.ok()) mean = Add(name + "/mean", "ReduceMean", {*mean}, node.attributes);
  auto share = IsWithin(name, extent, type.shape);
  if (share.ok()) share = Add(name + "/share", "Cast", {*share}, wide);
  if (share.ok()) {
    share = Add(name + "/share", "ReduceMean", {*share}, {{"keepdims", std::int64_t{0}}});
  }
  if (!mean.ok() || !share.ok()) return mean.ok() ? share.status() : mean.status();
  const auto quotient = Add(name + "/quotient", "Div", {*mean, *share}, {});
  if (!quotient.ok()) return quotient.status();
  node.op = "Cast";
  node.inputs = {*quotient};
  node.attributes = to(type.element);
  if (absl::Status status = Place(std::move(node)); !status.ok()) return status;
  return true;
}

absl::StatusOr<bool> GraphBuilder::PlaceGather(SourceNode node, const ops::OpDef& def,
                                               const ops::InferenceCall& call,
                                               const std::vector<TensorType>& types) {
  const bool is_nd = def.name == "GatherND";
  const Shape& places = call.input(1).shape;
  const OpenExtent* const open = open_.Find(node.inputs[0]);
  const OpenExtent* const picked = open_.Find(node.inputs[1]);
  if (open == nullptr || (is_nd && call.attributes.get_int("batch_dims", 0) != 0)) return false;
  if (is_nd && picked != nullptr && picked->axis + 1 == places.size()) return false;
  const std::size_t axis =
      is_nd ? 0 : AxisOf(call.attributes.get_int("axis", 0), call.input(0).shape.size());
  const bool is_along =
      is_nd ? static_cast<std::int64_t>(open->axis) < places.back() : open->axis == axis;
  if (!is_along) return false;
  const std::string name = node.name;
  const std::optional<OpenExtent> indices = picked ? std::optional(*picked) : std::nullopt;
  const Attributes to{{"to", static_cast<std::int64_t>(call.input(1).element)}};
  // Indices from the end are counted from that of what is there.
  absl::StatusOr<ValueId> lengths = open->count;
  if (is_nd) {
    Ints coordinate(static_cast<std::size_t>(places.back()), 0);
    coordinate[open->axis] = 1;
    const ValueId factors =
        AddConstant(name + "/coordinate", IntTensor({std::ssize(coordinate)}, coordinate));
    lengths = Add(name + "/lengths", "Mul", {open->count, factors}, {});
  }
  const ValueId given = Closed(name, node.inputs[1]);
  if (lengths.ok()) lengths = Add(name + "/lengths", "Cast", {*lengths}, to);
  if (!lengths.ok()) return lengths.status();
  const auto from_front = CountedFrom(name, given, *lengths);
  if (!from_front.ok()) return from_front.status();
  node.inputs = {Closed(name, node.inputs[0]), *from_front};
  for (const ValueId output : PlaceTyped(std::move(node), def, call, types)) {
    if (indices) {
      open_.Set(output,
                {.axis = axis + indices->axis, .count = indices->count, .source = indices->source});
    }
  }
  return true;
}

absl::StatusOr<ValueId> GraphBuilder::CountedFrom(const std::string& name, ValueId indices,
                                                  ValueId lengths) {
  const ValueId zero = AddConstant(name + "/zero", Tensor({graph_.type(indices).element, {}}));
  const auto is_negative = Add(name + "/negative", "Less", {indices, zero}, {});
  if (!is_negative.ok()) return is_negative.status();
  const auto moved = Add(name + "/moved", "Add", {indices, lengths}, {});
  if (!moved.ok()) return moved.status();
  return Add(name + "/front", "Where", {*is_negative, *moved, indices}, {});
}

absl::StatusOr<bool> GraphBuilder::PlaceScatter(SourceNode node) {
  enum Input : std::size_t { kData, kIndices, kUpdates };
  const std::string name = node.name;
  const bool is_nd = node.op == "ScatterND";
  const OpenExtent* const open = open_.Find(node.inputs[kIndices]);
  const OpenExtent* const updates = open_.Find(node.inputs[kUpdates]);
  const TensorType data = graph_.type(node.inputs[kData]);
  const Shape indices = graph_.type(node.inputs[kIndices]).shape;
  if (open == nullptr || updates == nullptr || open_.Find(node.inputs[kData]) != nullptr) {
    return false;
  }
  if (open->count != updates->count || open->axis != updates->axis) return false;
  if (is_nd && open->axis + 1 == indices.size()) return false;
  const std::size_t axis =
      is_nd ? 0 : AxisOf(node.attributes.get_int("axis", 0), data.shape.size());
  const std::int64_t length = data.shape[axis];

  // One more slice takes what lies beyond the extent.
  Shape slice = data.shape;
  slice[axis] = 1;
  const Attributes along{{"axis", static_cast<std::int64_t>(axis)}};
  const auto number = [&](const char* what, Tensor tensor) {
    return AddConstant(name + what, std::move(tensor));
  };
  const auto longer =
      Add(name + "/longer", "Concat",
          {node.inputs[kData], number("/slice", Tensor({data.element, slice}))}, along);
  if (!longer.ok()) return longer.status();
  // Of tuples the first coordinate; those counted from the end are counted from the front.
  Ints spare(is_nd ? static_cast<std::size_t>(indices.back()) : 1, 0);
  spare[0] = length;
  const ElementType element = graph_.type(node.inputs[kIndices]).element;
  const ValueId beyond =
      number("/beyond", kernels::RunOnce("Cast", {IntTensor({std::ssize(spare)}, spare)},
                                         {{element, {std::ssize(spare)}}}, {})
                            .front());
  const auto within = IsWithin(name, *open, indices);
  if (!within.ok()) return within.status();
  const ValueId given = Closed(name, node.inputs[kIndices]);
  const auto from_front = CountedFrom(name, given, beyond);
  if (!from_front.ok()) return from_front.status();
  const auto places = Add(name + "/places", "Where", {*within, *from_front, beyond}, {});
  if (!places.ok()) return places.status();
  const auto scattered =
      Add(name + "/scattered", node.op, {*longer, *places, Closed(name, node.inputs[kUpdates])},
          node.attributes);
  if (!scattered.ok()) return scattered.status();
  node.op = "Slice";
  node.inputs = {*scattered};
  node.attributes = {
      {"starts", Ints{0}}, {"ends", Ints{length}}, {"axes", Ints{static_cast<std::int64_t>(axis)}}};
  if (absl::Status status = Place(std::move(node)); !status.ok()) return status;
  return true;
}

absl::StatusOr<bool> GraphBuilder::PlaceConcat(SourceNode node,
                                               const std::vector<TensorType>& types) {
  const std::string name = node.name;
  const std::size_t axis = AxisOf(node.attributes.get_int("axis", 0), types[0].shape.size());
  const auto is_other = [&](ValueId id) {
    const OpenExtent* const open = open_.Find(id);
    return open != nullptr && open->axis != axis;
  };
  if (ElementCount(types[0].shape) == 0 || std::ranges::any_of(node.inputs, is_other)) return false;
  // All are joined as long as they may be, and what lies within their extents is kept.
  OpenExtent extent{.axis = axis, .count = ir::kAbsent, .source = {}};
  std::vector<ValueId> kept;
  for (ValueId& input : node.inputs) {
    const std::int64_t bound = graph_.type(input).shape[axis];
    const OpenExtent* const open = open_.Find(input);
    extent.least += open == nullptr ? bound : open->least;
    if (open == nullptr) {
      const std::vector<std::uint8_t> all(static_cast<std::size_t>(bound), 1);
      kept.push_back(AddConstant(name + "/all", Tensor({ElementType::kBool, {bound}}, all.data())));
      continue;
    }
    extent.source = open->source;
    const auto within =
        IsWithin(name, {.axis = 0, .count = open->count, .source = open->source}, {bound});
    if (!within.ok()) return within.status();
    kept.push_back(*within);
    input = Closed(name, input);
  }
  const auto joined = Add(name + "/joined", "Concat", node.inputs, node.attributes);
  if (!joined.ok()) return joined.status();
  const auto condition = Add(name + "/kept", "Concat", kept, {{"axis", std::int64_t{0}}});
  if (!condition.ok()) return condition.status();
  node.op = "Compress";
  node.inputs = {*joined, *condition};
  node.outputs.emplace_back();
  const auto outputs = Append(std::move(node), {types[0], {ElementType::kInt64, {}}});
  extent.count = outputs[1];
  open_.Set(outputs[0], std::move(extent));
  return true;
}

absl::StatusOr<ValueId> GraphBuilder::CarriedCount(const std::string& name,
                                                   const OpenExtents::Carried& to,
                                                   std::int64_t longest, std::int64_t bound) {
  const auto number = [&](std::int64_t value) {
    return AddConstant(name + "/number", IntTensor({}, {value}));
  };
  absl::StatusOr<ValueId> count = to.from->count;
  if (to.to.skipped > 0) {
    count = Add(name + "/rest", "Sub", {*count, number(to.to.skipped)}, {});
    if (count.ok()) count = Add(name + "/count", "Max", {*count, number(0)}, {});
  }
  if (!count.ok()) return count;
  return AtMost(name, *count, longest - to.to.skipped, bound);
}

absl::StatusOr<ValueId> GraphBuilder::AtMost(const std::string& name, ValueId count,
                                             std::int64_t longest, std::int64_t bound) {
  if (bound >= longest) return count;
  return Add(name + "/count", "Min", {count, AddConstant(name + "/number", IntTensor({}, {bound}))},
             {});
}

absl::Status GraphBuilder::PlaceShape(SourceNode node) {
  const ValueId input = node.inputs[0];
  const OpenExtent extent = *open_.Find(input);
  const auto rank = static_cast<std::int64_t>(graph_.type(input).shape.size());
  const auto from_front = [&](const char* name, std::int64_t otherwise) {
    const std::int64_t axis = node.attributes.get_int(name, otherwise);
    return static_cast<std::size_t>(
        std::clamp<std::int64_t>(axis < 0 ? axis + rank : axis, 0, rank));
  };
  std::vector<ValueId> parts;
  const std::size_t end = from_front("end", rank);
  for (std::size_t axis = from_front("start", 0); axis < end; ++axis) {
    if (axis == extent.axis) {
      const auto part =
          Add(node.name + "/extent", "Unsqueeze", {extent.count}, {{"axes", Ints{0}}});
      if (!part.ok()) return part.status();
      parts.push_back(*part);
    } else {
      parts.push_back(
          AddConstant(node.name + "/extent", IntTensor({1}, {graph_.type(input).shape[axis]})));
    }
  }
  if (parts.empty()) {
    DefineConstant(node.outputs[0], IntTensor({0}, {}));
    return absl::OkStatus();
  }
  node.op = "Concat";
  node.inputs = std::move(parts);
  node.attributes = {{"axis", std::int64_t{0}}};
  return Place(std::move(node));
}

absl::Status GraphBuilder::PlaceSize(SourceNode node) {
  const ValueId input = node.inputs[0];
  const OpenExtent extent = *open_.Find(input);
  Shape others = graph_.type(input).shape;
  others[extent.axis] = 1;
  node.op = "Mul";
  node.inputs = {extent.count,
                 AddConstant(node.name + "/rest", IntTensor({}, {ElementCount(others)}))};
  return Place(std::move(node));
}

}  // namespace poprt::frontend
