#include "compiler/frontend/graph_importer.hpp"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include "absl/strings/str_join.h"
#include "compiler/frontend/control_flow/control_flow.hpp"
#include "compiler/frontend/define_value.hpp"
#include "compiler/frontend/import_time/import_time_op.hpp"
#include "compiler/frontend/proto/attribute_proto.hpp"
#include "compiler/frontend/proto/value_proto.hpp"
#include "compiler/frontend/supported_operators.hpp"
#include "compiler/frontend/unknown_attributes.hpp"
#include "compiler/ops/op.hpp"

namespace poprt::frontend {
namespace {

/// Bounds what a small file can make the importer do.
constexpr std::int64_t kMostBodyNodes = 2'000'000;

absl::StatusOr<Tensor> ConstantOf(const Attributes& attributes) {
  const auto& entries = attributes.entries();
  if (entries.size() != 1) {
    return absl::InvalidArgumentError("must have exactly one attribute and one output");
  }
  const auto& [name, value] = entries.front();
  if (const auto* held = std::get_if<Tensor>(&value); held != nullptr && name == "value") {
    return *held;
  }
  if (const auto* number = std::get_if<float>(&value); number && name == "value_float") {
    return Tensor({ElementType::kFloat32, {}}, number);
  }
  if (const auto* number = std::get_if<std::int64_t>(&value); number && name == "value_int") {
    return Tensor({ElementType::kInt64, {}}, number);
  }
  if (const auto* list = std::get_if<Floats>(&value); list != nullptr && name == "value_floats") {
    return Tensor({ElementType::kFloat32, {static_cast<std::int64_t>(list->size())}}, list->data());
  }
  if (const auto* list = std::get_if<Ints>(&value); list != nullptr && name == "value_ints") {
    return Tensor({ElementType::kInt64, {static_cast<std::int64_t>(list->size())}}, list->data());
  }
  return absl::UnimplementedError("attribute '" + name +
                                  "' is not supported; store the constant as a tensor in "
                                  "attribute 'value'");
}

/// Leaves out optional outputs that nobody reads. The outputs of operators with any number of them
/// count.
void TrimUnused(SourceNode& node, const GraphBuilder& builder) {
  const ops::OpDef* def = ops::FindOp(node.op);
  if (def == nullptr || def->outputs.max == ops::kAnyNumber) return;
  while (node.outputs.size() > def->outputs.min && !builder.IsUsed(node.outputs.back())) {
    node.outputs.pop_back();
  }
}

}  // namespace

std::string GraphImporter::Where(const onnx::NodeProto& node, GraphBuilder* builder) const {
  std::string text = Describe(node);
  text.pop_back();
  text += ", opset " + std::to_string(opsets_.Of(node));
  if (node.input_size() > 0) {
    text +=
        ", inputs " + absl::StrJoin(node.input(), ", ", [&](std::string* out, const auto& name) {
          const ImportValue* value = builder == nullptr ? nullptr : builder->FindValue(name);
          *out += name.empty() ? "-" : value == nullptr ? "?" : Describe(*value, builder->graph());
        });
  }
  return text + "): ";
}

void GraphImporter::ImportNodes(const onnx::GraphProto& graph, const GraphStructure& structure,
                                GraphBuilder& builder, Problems& problems) {
  for (int i = 0; i < graph.node_size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (!structure.live[at]) continue;
    ImportNode({.node = graph.node(i),
                .graph = graph,
                .name = structure.node_names[at],
                .structure = structure,
                .inputs = {},
                .builder = builder,
                .problems = problems});
  }
}

std::optional<std::vector<ImportValue>> GraphImporter::ImportBody(
    const onnx::GraphProto& body, const GraphStructure& structure,
    std::span<const ImportValue> arguments, GraphBuilder& builder, Problems& problems) {
  Problems attempt = problems.Attempt();
  if (!CountBodyNodes(body.node_size(), problems)) return std::nullopt;
  std::vector<ImportValue> results;
  ++depth_;
  builder.OpenScope(structure.used);
  ImportInitializers(body, builder, attempt);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    builder.DefineValue(body.input(static_cast<int>(i)).name(), arguments[i]);
  }
  ImportNodes(body, structure, builder, attempt);
  for (const onnx::ValueInfoProto& output : body.output()) {
    const ImportValue* value = builder.FindValue(output.name());
    if (value != nullptr) results.push_back(*value);
  }
  builder.CloseScope();
  --depth_;
  problems.Append(attempt);
  // Results are lost without a new problem where what they are computed from has one already.
  const bool is_complete = results.size() == static_cast<std::size_t>(body.output_size());
  if (!attempt.empty() || !is_complete) return std::nullopt;
  return results;
}

bool GraphImporter::ImportPart(const onnx::GraphProto& graph, const GraphStructure& structure,
                               GraphBuilder& builder, Problems& problems) {
  const auto count = std::count(structure.live.begin(), structure.live.end(), true);
  if (!CountBodyNodes(count, problems)) return false;
  Problems attempt = problems.Attempt();
  ++depth_;
  ImportNodes(graph, structure, builder, attempt);
  --depth_;
  problems.Append(attempt);
  return attempt.empty();
}

bool GraphImporter::CountBodyNodes(std::int64_t count, Problems& problems) {
  body_nodes_ += count;
  if (body_nodes_ <= kMostBodyNodes) return true;
  problems.AddInvalid("unrolling the loops of the model takes more than " +
                      std::to_string(kMostBodyNodes) +
                      " nodes; lower their trip counts or write them without loops");
  return false;
}

void GraphImporter::ImportInitializers(const onnx::GraphProto& body, GraphBuilder& builder,
                                       Problems& problems) {
  const auto define = [&](const auto& proto, const std::string& name) {
    if (!builder.IsUsed(name)) return;
    auto known = initializers_.find(&proto);
    if (known == initializers_.end()) {
      absl::StatusOr<HostValue> value = ValueFromProto(proto, &external_);
      if (!value.ok()) {
        problems.Add(value.status(), "initializer '" + name + "' ");
        return;
      }
      known = initializers_.emplace(&proto, *std::move(value)).first;
    }
    DefineValue(name, known->second, builder);
  };
  for (const onnx::TensorProto& proto : body.initializer()) define(proto, proto.name());
  for (const onnx::SparseTensorProto& proto : body.sparse_initializer()) {
    define(proto, proto.values().name());
  }
}

bool GraphImporter::CountStringBytes(std::uint64_t bytes) {
  constexpr std::uint64_t most = std::uint64_t{1} << 30;
  if (bytes > most - string_bytes_) return false;
  string_bytes_ += bytes;
  return true;
}

void GraphImporter::ImportNode(NodeImport import) {
  const onnx::NodeProto& node = import.node;
  if (HasForeignDomain(node, opsets_)) return;
  absl::Status status;
  if (const std::string why = WhyUnsupported(node); !why.empty()) {
    status = absl::UnimplementedError(why);
  } else if (status = CheckAttributeNames(node); status.ok()) {
    for (const std::string& name : node.input()) {
      const ImportValue* value = name.empty() ? nullptr : import.builder.FindValue(name);
      // What defines it has been reported; more about its users would only repeat that.
      if (value == nullptr && !name.empty()) return;
      import.inputs.push_back(value == nullptr ? std::nullopt : std::optional(*value));
    }
    status = ImportPlaced(import);
  }
  if (!status.ok()) import.problems.Add(status, Where(node, &import.builder));
}

absl::Status GraphImporter::ImportPlaced(NodeImport& import) {
  const absl::StatusOr<ir::Placement> placement = PlacementFromProto(import.node);
  if (!placement.ok()) return placement.status();
  const std::size_t first = import.builder.node_count();
  absl::Status status = ImportKnown(import);
  import.builder.PlaceNodesFrom(first, *placement);
  return status;
}

absl::Status GraphImporter::ImportKnown(NodeImport& import) {
  if (IsControlFlow(import.node)) return ImportControlFlow(*this, import);
  if (IsImportTime(import)) return ImportAtImportTime(*this, import);
  return ImportOperator(import);
}

absl::StatusOr<Attributes> GraphImporter::AttributesOf(const onnx::NodeProto& node) {
  if (depth_ == 0) return AttributesFromProto(node, external_);
  const auto known = attributes_.find(&node);
  if (known != attributes_.end()) return known->second;
  absl::StatusOr<Attributes> attributes = AttributesFromProto(node, external_);
  if (attributes.ok()) attributes_.emplace(&node, *attributes);
  return attributes;
}

absl::Status GraphImporter::ImportOperator(NodeImport& import) {
  const onnx::NodeProto& node = import.node;
  GraphBuilder& builder = import.builder;
  absl::StatusOr<Attributes> attributes = AttributesOf(node);
  if (!attributes.ok()) return attributes.status();
  if (node.op_type() == "Constant") {
    if (node.output_size() != 1) {
      return absl::InvalidArgumentError("must have exactly one attribute and one output");
    }
    absl::StatusOr<Tensor> constant = ConstantOf(*attributes);
    if (!constant.ok()) return constant.status();
    builder.DefineConstant(node.output(0), *std::move(constant));
    return absl::OkStatus();
  }
  SourceNode source{.name = import.name,
                    .op = node.op_type(),
                    .inputs = {},
                    .outputs = {node.output().begin(), node.output().end()},
                    .attributes = *std::move(attributes)};
  for (std::size_t i = 0; i < import.inputs.size(); ++i) {
    const auto& input = import.inputs[i];
    if (input && input->tensor() == nullptr) {
      return absl::InvalidArgumentError("input " + std::to_string(i) + " is " +
                                        Describe(*input, builder.graph()) +
                                        ", which the operator does not take");
    }
    source.inputs.push_back(input ? *input->tensor() : ir::kAbsent);
  }
  TrimUnused(source, builder);
  try {
    absl::Status status = Upgrade(opsets_.Of(node), source, builder);
    if (!status.ok()) return status;
  } catch (const std::invalid_argument& error) {
    return absl::InvalidArgumentError(error.what());
  }
  if (source.op.empty()) return absl::OkStatus();  // all outputs have been defined
  return builder.Place(std::move(source));
}

}  // namespace poprt::frontend
