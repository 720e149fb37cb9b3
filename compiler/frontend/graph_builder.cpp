#include "compiler/frontend/graph_builder.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include "absl/status/status.h"
#include "compiler/frontend/static_input.hpp"
#include "compiler/ops/random_ops.hpp"
#include "runtime/kernels/kernel.hpp"

namespace poprt::frontend {
namespace {

using ir::kAbsent;
using ir::ValueId;

/// What shapes are computed from is folded whatever the bound.
constexpr std::size_t kAlwaysFolded = 1024;
/// Bounds on what a small file can make the importer compute: one tensor, all together.
constexpr std::size_t kLargestFolded = std::size_t{1} << 31;
constexpr std::uint64_t kLargestSum = std::uint64_t{1} << 33;

/// Operators that keep the elements as they are.
bool KeepsElements(std::string_view op) {
  static constexpr std::array<std::string_view, 5> ops = {"Identity", "Reshape", "Flatten",
                                                          "Squeeze", "Unsqueeze"};
  return std::find(ops.begin(), ops.end(), op) != ops.end();
}

Tensor IntTensor(Shape shape, const Ints& values) {
  return Tensor::Of<std::int64_t>(ElementType::kInt64, std::move(shape), values);
}

/// The value of Shape, whose extents have been checked against `start` and `end` by inference.
Tensor ShapeOf(const TensorType& input, const TensorType& output, const Attributes& attributes) {
  const auto rank = static_cast<std::int64_t>(input.shape.size());
  std::int64_t start = attributes.get_int("start", 0);
  if (start < 0) start += rank;
  start = std::clamp<std::int64_t>(start, 0, rank);
  const auto first = input.shape.begin() + start;
  return IntTensor(output.shape, Ints(first, first + output.shape[0]));
}

/// The results of an operator with open outputs without what lies beyond their extents.
std::vector<Tensor> TrueResults(const ops::OpDef& def, const ops::InferenceCall& call,
                                std::vector<Tensor> results) {
  const std::int64_t count = results.back().as<std::int64_t>()[0];
  for (const ops::OpenOutput& open : def.open(call)) {
    results[open.output] = Truncate(results[open.output], open.axis, count);
  }
  return results;
}

void TrimAbsent(std::vector<ValueId>& ids) {
  while (!ids.empty() && ids.back() == kAbsent) ids.pop_back();
}

std::vector<TensorType> TypesOf(const ir::Graph& graph, const std::vector<ValueId>& ids) {
  std::vector<TensorType> types;
  types.reserve(ids.size());
  for (ValueId id : ids) types.push_back(id == kAbsent ? TensorType{} : graph.type(id));
  return types;
}

}  // namespace

std::string GraphBuilder::FreeName(const std::string& wanted) {
  if (reserved_.count(wanted) == 0) return wanted;
  // Unrolled loops want the same names thousands of times.
  int& suffix = last_suffixes_[wanted];
  std::string name;
  do {
    name = wanted + "_" + std::to_string(++suffix);
  } while (reserved_.count(name) > 0);
  return name;
}

std::string GraphBuilder::GraphName(const std::string& name) {
  if (scopes_.size() == 1) return name;
  std::string free = FreeName(name);
  reserved_.insert(free);
  return free;
}

ValueId GraphBuilder::AddConstant(const std::string& name, Tensor tensor) {
  const std::string free = FreeName(name);
  reserved_.insert(free);
  return graph_.AddConstant(free, std::move(tensor));
}

absl::StatusOr<ValueId> GraphBuilder::Add(const std::string& name, const std::string& op,
                                          std::vector<ValueId> inputs, Attributes attributes) {
  // In a body Place chooses names once more.
  const bool is_final = scopes_.size() == 1;
  SourceNode node{.name = FreeName(name),
                  .op = op,
                  .inputs = std::move(inputs),
                  .outputs = {},
                  .attributes = std::move(attributes)};
  if (is_final) reserved_.insert(node.name);
  const std::string output = FreeName(node.name + ":0");
  if (is_final) reserved_.insert(output);
  node.outputs = {output};
  if (absl::Status status = Place(std::move(node)); !status.ok()) return status;
  return *Find(output);
}

void GraphBuilder::Define(const std::string& name, ValueId value) { DefineValue(name, {value}); }

void GraphBuilder::DefineValue(const std::string& name, ImportValue value) {
  scopes_.back().values[name] = std::move(value);
}

ValueId GraphBuilder::AddInput(const std::string& name, TensorType type) {
  const ValueId id = graph_.AddValue(name, std::move(type));
  graph_.inputs.push_back(id);
  Define(name, id);
  return id;
}

void GraphBuilder::DefineConstant(const std::string& name, Tensor tensor) {
  Define(name, graph_.AddConstant(GraphName(name), std::move(tensor)));
}

const ValueId* GraphBuilder::Find(const std::string& name) {
  const ImportValue* value = FindValue(name);
  return value == nullptr ? nullptr : value->tensor();
}

const ImportValue* GraphBuilder::FindValue(const std::string& name) {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto found = scope->values.find(name);
    if (found != scope->values.end()) return &found->second;
  }
  const ImportValue* outer = outer_ == nullptr ? nullptr : outer_->FindValue(name);
  if (outer == nullptr) return nullptr;
  return &(scopes_.front().values[name] = Capture(*outer));
}

ValueId GraphBuilder::Capture(ValueId outer) {
  const auto [at, is_new] = inner_values_.try_emplace(outer, kAbsent);
  if (!is_new) return at->second;
  const ir::Value& value = outer_->graph_.value(outer);
  if (value.is_constant()) {
    at->second = AddConstant(value.name, *value.constant);
  } else {
    const std::string name = FreeName(value.name);
    reserved_.insert(name);
    at->second = graph_.AddValue(name, value.type);
    graph_.inputs.push_back(at->second);
    captured_.emplace_back(outer, at->second);
    CaptureExtent(outer, at->second);
  }
  return inner_values_.at(outer);
}

void GraphBuilder::CaptureExtent(ValueId outer, ValueId inner) {
  const OpenExtent* extent = outer_->open_.Find(outer);
  if (extent == nullptr) return;
  open_.Set(inner,
            {.axis = extent->axis, .count = Capture(extent->count), .source = extent->source});
}

ImportValue GraphBuilder::Capture(const ImportValue& outer) {
  if (const ValueId* tensor = outer.tensor()) return {Capture(*tensor)};
  if (outer.strings() != nullptr) return outer;
  if (const auto* sequence = outer.sequence()) {
    ImportValue::Sequence inner;
    for (const ImportValue& element : sequence->elements)
      inner.elements.push_back(Capture(element));
    return {std::move(inner)};
  }
  ImportValue::Optional inner;
  for (const ImportValue& element : outer.optional()->element) {
    inner.element.push_back(Capture(element));
  }
  return {std::move(inner)};
}

ValueId GraphBuilder::AddRegionInput(const std::string& name, TensorType type) {
  const std::string free = FreeName(name);
  reserved_.insert(free);
  graph_.inputs.push_back(graph_.AddValue(free, std::move(type)));
  return graph_.inputs.back();
}

std::vector<ValueId> GraphBuilder::PlaceRegions(ir::Node node, const std::vector<TensorType>& types,
                                                const std::vector<std::string>& names) {
  node.name = GraphName(node.name);
  for (std::size_t i = 0; i < types.size(); ++i) {
    std::string name = i < names.size() ? names[i] : "";
    if (name.empty()) {
      name = FreeName(node.name + ":" + std::to_string(i));
      reserved_.insert(name);
    } else {
      name = GraphName(name);
    }
    node.outputs.push_back(graph_.AddValue(name, types[i]));
    producers_[node.outputs.back()] = graph_.nodes.size();
  }
  graph_.nodes.push_back(std::move(node));
  return graph_.nodes.back().outputs;
}

std::string GraphBuilder::SourceOf(ValueId value) const {
  for (const auto& [outer, inner] : captured_) {
    if (inner == value) return outer_->SourceOf(outer);
  }
  if (const ir::Node* node = ProducerOf(value)) {
    return "is computed at run time by node '" + node->name + "' (" + node->op + ")";
  }
  return outer_ == nullptr ? "is an input of the model" : "differs from iteration to iteration";
}

absl::Status GraphBuilder::NotConstant(const ops::StaticInput& input, ValueId value) const {
  const std::string& name = graph_.value(value).name;
  return absl::InvalidArgumentError(
      "input " + std::to_string(input.index) + " (" + std::string(input.attribute) + ") is '" +
      name + "', which " + SourceOf(value) +
      ", but must be known when compiling; freeze the value or fix the shape that it comes from");
}

absl::Status GraphBuilder::ExtractStaticInputs(const ops::OpDef& def, SourceNode& node,
                                               std::optional<OpenElement>* open) const {
  std::vector<bool> is_static(node.inputs.size(), false);
  for (const ops::StaticInput& input : def.static_inputs) {
    const ValueId id = input.index < node.inputs.size() ? node.inputs[input.index] : kAbsent;
    if (input.index < node.inputs.size()) is_static[input.index] = true;
    if (id == kAbsent) {
      if (const AttributeValue* value = node.attributes.find(input.attribute)) {
        node.attributes.set(input.attribute, AsList(*value));
      }
      continue;
    }
    // What has no elements is known without being constant.
    const bool is_empty = graph_.type(id).bytes() == 0;
    const Tensor empty = is_empty ? Tensor(graph_.type(id)) : Tensor();
    const Tensor* constant = is_empty ? &empty : graph_.ConstantOf(id);
    if (constant == nullptr) {
      if (TakeOpenExtent(input, id, node, open)) continue;
      return NotConstant(input, id);
    }
    // Floats would lose digits where the result is as exact as its inputs.
    const bool is_exact =
        !input.type_attribute.empty() && constant->element() == ElementType::kFloat64;
    std::optional<AttributeValue> value =
        is_exact ? AttributeValue(*constant) : StaticValue(*constant);
    if (!value) {
      return absl::InvalidArgumentError("input " + std::to_string(input.index) + " (" +
                                        std::string(input.attribute) +
                                        ") holds a number that is too large");
    }
    node.attributes.set(input.attribute, *std::move(value));
    if (!input.type_attribute.empty()) {
      node.attributes.set(input.type_attribute, static_cast<std::int64_t>(constant->element()));
    }
  }
  std::vector<ValueId> operands;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (!is_static[i]) operands.push_back(node.inputs[i]);
  }
  TrimAbsent(operands);
  node.inputs = std::move(operands);
  return absl::OkStatus();
}

bool GraphBuilder::MayFold(const ops::OpDef& def, const SourceNode& node,
                           const std::vector<TensorType>& types) {
  const bool are_constant = std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
    return id == kAbsent || graph_.ConstantOf(id) != nullptr;
  });
  if (!are_constant && !def.type_only) return false;
  if (ops::IsRandom(node.op)) return false;
  if (!KeepsElements(node.op) && node.op != "Shape" && node.op != "Size" &&
      kernels::FindKernel(node.op) == nullptr) {
    return false;
  }
  std::uint64_t sum = folded_bytes();
  for (const TensorType& type : types) {
    const bool is_shape = IsInteger(type.element) && type.shape.size() <= 1;
    const std::size_t bytes = type.bytes();
    if (bytes > kLargestFolded) return false;
    if (max_tensor_size_ >= 0 && bytes > static_cast<std::uint64_t>(max_tensor_size_) &&
        bytes > kAlwaysFolded && !is_shape) {
      return false;
    }
    sum += bytes;
  }
  return sum <= kLargestSum;
}

absl::StatusOr<bool> GraphBuilder::Fold(const ops::OpDef& def, const SourceNode& node,
                                        const ops::InferenceCall& call,
                                        const std::vector<TensorType>& types) {
  if (!MayFold(def, node, types)) return false;
  std::vector<Tensor> results;
  if (node.op == "Shape") {
    results = {ShapeOf(graph_.type(node.inputs[0]), types[0], node.attributes)};
  } else if (node.op == "Size") {
    results = {IntTensor({}, {ElementCount(graph_.type(node.inputs[0]).shape)})};
  } else if (KeepsElements(node.op)) {
    results = {graph_.ConstantOf(node.inputs[0])->WithType(types[0])};
  } else {
    std::vector<Tensor> inputs;
    for (ValueId id : node.inputs) {
      const Tensor* constant = graph_.ConstantOf(id);
      // Operators whose result follows from types alone never look at the elements.
      inputs.push_back(id == kAbsent         ? Tensor()
                       : constant != nullptr ? *constant
                                             : Tensor(graph_.type(id)));
    }
    try {
      results = kernels::RunOnce(node.op, inputs, types, node.attributes);
    } catch (const std::exception& error) {
      return absl::InvalidArgumentError(std::string("computing its constant result failed: ") +
                                        error.what());
    }
  }
  if (def.open != nullptr) results = TrueResults(def, call, std::move(results));
  for (std::size_t i = 0; i < results.size(); ++i) {
    folded_bytes() += KeepsElements(node.op) ? 0 : results[i].bytes();
    if (!node.outputs[i].empty()) DefineConstant(node.outputs[i], std::move(results[i]));
  }
  return true;
}

absl::Status GraphBuilder::Place(SourceNode node) {
  if (node.op.empty()) return absl::OkStatus();
  const ops::OpDef* def = ops::FindOp(node.op);
  if (def == nullptr) return absl::UnimplementedError("the operator is not supported");
  std::optional<OpenElement> open;
  if (absl::Status status = ExtractStaticInputs(*def, node, &open); !status.ok()) return status;
  if (def->open != nullptr && node.outputs.size() >= def->outputs.max) {
    return absl::InvalidArgumentError("has " + std::to_string(node.outputs.size()) +
                                      " outputs, its form has " +
                                      std::to_string(def->outputs.max - 1));
  }
  while (node.outputs.size() < def->outputs.min) node.outputs.emplace_back();
  const Attributes attributes = node.attributes;  // the node's own go where it goes
  const ops::InferenceCall call{.op = def->name,
                                .inputs = TypesOf(graph_, node.inputs),
                                .attributes = attributes,
                                .outputs = node.outputs.size()};
  absl::StatusOr<std::vector<TensorType>> types = ops::InferTypes(*def, call);
  if (!types.ok()) return types.status();
  if (open) return PlaceOfOpenShape(std::move(node), *def, call, *types, *open);
  if (open_.AnyOf(node.inputs)) return PlaceOpen(std::move(node), *def, call, *types);
  absl::StatusOr<bool> folded = Fold(*def, node, call, *types);
  if (!folded.ok()) return folded.status();
  if (*folded) return absl::OkStatus();

  PlaceTyped(std::move(node), *def, call, *types);
  return absl::OkStatus();
}

std::vector<ValueId> GraphBuilder::PlaceTyped(SourceNode node, const ops::OpDef& def,
                                              const ops::InferenceCall& call,
                                              const std::vector<TensorType>& types) {
  if (def.open == nullptr) return Append(std::move(node), types);
  // What selects alike has one count.
  if (const ir::Node* twin = TwinOf(node)) {
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (!node.outputs[i].empty()) Define(node.outputs[i], twin->outputs[i]);
    }
    return twin->outputs;
  }
  const std::string source = "node '" + node.name + "' (" + node.op + ")";
  std::vector<ValueId> outputs = Append(std::move(node), types);
  for (const ops::OpenOutput& output : def.open(call)) {
    // An extent of at most 0 is known.
    if (types[output.output].shape[output.axis] == 0) continue;
    open_.Set(outputs[output.output],
              {.axis = output.axis, .count = outputs.back(), .source = source});
  }
  return outputs;
}

const ir::Node* GraphBuilder::ProducerOf(ValueId value) const {
  const auto found = producers_.find(value);
  if (found == producers_.end() || found->second >= graph_.nodes.size()) return nullptr;
  const ir::Node& node = graph_.nodes[found->second];
  const bool is_its =
      std::find(node.outputs.begin(), node.outputs.end(), value) != node.outputs.end();
  return is_its ? &node : nullptr;  // nodes may have been dropped
}

std::vector<ValueId> GraphBuilder::Append(SourceNode node, const std::vector<TensorType>& types) {
  ir::Node placed{.name = GraphName(node.name),
                  .op = node.op,
                  .inputs = std::move(node.inputs),
                  .outputs = {},
                  .attributes = std::move(node.attributes)};
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    const std::string& name = node.outputs[i];
    std::string called = name.empty() ? FreeName(node.name + ":" + std::to_string(i)) : name;
    if (name.empty()) {
      reserved_.insert(called);
    } else {
      called = GraphName(name);
    }
    const ValueId id = graph_.AddValue(called, types[i]);
    placed.outputs.push_back(id);
    producers_[id] = graph_.nodes.size();
    if (!name.empty()) Define(name, id);
  }
  graph_.nodes.push_back(std::move(placed));
  return graph_.nodes.back().outputs;
}

void GraphBuilder::PlaceNodesFrom(std::size_t count, const ir::Placement& placement) {
  for (std::size_t i = count; i < graph_.nodes.size(); ++i) {
    ir::PlaceIfUnplaced(graph_.nodes[i], placement);
  }
}

}  // namespace poprt::frontend
