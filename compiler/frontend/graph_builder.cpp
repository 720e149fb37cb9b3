#include "compiler/frontend/graph_builder.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include "absl/status/status.h"
#include "compiler/frontend/static_input.hpp"
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

std::string GraphBuilder::FreeName(const std::string& wanted) const {
  std::string name = wanted;
  for (int suffix = 1; reserved_.count(name) > 0; ++suffix) {
    name = wanted + "_" + std::to_string(suffix);
  }
  return name;
}

ValueId GraphBuilder::AddConstant(const std::string& name, Tensor tensor) {
  const std::string free = FreeName(name);
  reserved_.insert(free);
  return graph_.AddConstant(free, std::move(tensor));
}

absl::StatusOr<ValueId> GraphBuilder::Add(const std::string& name, const std::string& op,
                                          std::vector<ValueId> inputs, Attributes attributes) {
  SourceNode node{.name = FreeName(name),
                  .op = op,
                  .inputs = std::move(inputs),
                  .outputs = {},
                  .attributes = std::move(attributes)};
  reserved_.insert(node.name);
  const std::string output = FreeName(node.name + ":0");
  reserved_.insert(output);
  node.outputs = {output};
  if (absl::Status status = Place(std::move(node)); !status.ok()) return status;
  return values_.at(output);
}

void GraphBuilder::Define(const std::string& name, ValueId value) { values_[name] = value; }

void GraphBuilder::AddInput(const std::string& name, TensorType type) {
  const ValueId id = graph_.AddValue(name, std::move(type));
  graph_.inputs.push_back(id);
  values_[name] = id;
}

void GraphBuilder::DefineConstant(const std::string& name, Tensor tensor) {
  values_[name] = graph_.AddConstant(name, std::move(tensor));
}

const ValueId* GraphBuilder::Find(const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

absl::Status GraphBuilder::NotConstant(const ops::StaticInput& input, ValueId value) const {
  const std::string& name = graph_.value(value).name;
  std::string source = "is an input of the model";
  for (const ir::Node& node : graph_.nodes) {
    if (std::find(node.outputs.begin(), node.outputs.end(), value) == node.outputs.end()) continue;
    source = "is computed at run time by node '" + node.name + "' (" + node.op + ")";
  }
  return absl::InvalidArgumentError(
      "input " + std::to_string(input.index) + " (" + std::string(input.attribute) + ") is '" +
      name + "', which " + source +
      ", but must be known when compiling; freeze the value or fix the shape that it comes from");
}

absl::Status GraphBuilder::ExtractStaticInputs(const ops::OpDef& def, SourceNode& node) const {
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
    if (constant == nullptr) return NotConstant(input, id);
    std::optional<AttributeValue> value = StaticValue(*constant);
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
                           const std::vector<TensorType>& types) const {
  const bool are_constant = std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
    return id == kAbsent || graph_.ConstantOf(id) != nullptr;
  });
  if (!are_constant && !def.type_only) return false;
  if (!KeepsElements(node.op) && node.op != "Shape" && node.op != "Size" &&
      kernels::FindKernel(node.op) == nullptr) {
    return false;
  }
  std::uint64_t sum = folded_bytes_;
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
  for (std::size_t i = 0; i < results.size(); ++i) {
    folded_bytes_ += KeepsElements(node.op) ? 0 : results[i].bytes();
    if (!node.outputs[i].empty()) DefineConstant(node.outputs[i], std::move(results[i]));
  }
  return true;
}

absl::Status GraphBuilder::Place(SourceNode node) {
  const ops::OpDef* def = ops::FindOp(node.op);
  if (def == nullptr) return absl::UnimplementedError("the operator is not supported");
  if (absl::Status status = ExtractStaticInputs(*def, node); !status.ok()) return status;
  while (node.outputs.size() < def->outputs.min) node.outputs.emplace_back();
  const ops::InferenceCall call{.op = node.op,
                                .inputs = TypesOf(graph_, node.inputs),
                                .attributes = node.attributes,
                                .outputs = node.outputs.size()};
  absl::StatusOr<std::vector<TensorType>> types = ops::InferTypes(*def, call);
  if (!types.ok()) return types.status();
  absl::StatusOr<bool> folded = Fold(*def, node, *types);
  if (!folded.ok()) return folded.status();
  if (*folded) return absl::OkStatus();

  ir::Node placed{.name = node.name,
                  .op = node.op,
                  .inputs = std::move(node.inputs),
                  .outputs = {},
                  .attributes = std::move(node.attributes)};
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    std::string name = node.outputs[i];
    if (name.empty()) {
      name = FreeName(node.name + ":" + std::to_string(i));
      reserved_.insert(name);
    }
    const ValueId id = graph_.AddValue(name, (*types)[i]);
    placed.outputs.push_back(id);
    values_[name] = id;
  }
  graph_.nodes.push_back(std::move(placed));
  return absl::OkStatus();
}

}  // namespace poprt::frontend
