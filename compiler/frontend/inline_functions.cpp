#include "compiler/frontend/inline_functions.hpp"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "compiler/frontend/graph_structure.hpp"

namespace poprt::frontend {
namespace {

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

/// What a small file can be inlined to.
constexpr std::int64_t kMostNodes = 250'000;
constexpr std::size_t kDeepestCalls = 200;

/// Fields that came after the version of ONNX this is built with.
constexpr int kNodeOverload = 8;
constexpr int kFunctionAttributeDefaults = 11;
constexpr int kFunctionOverload = 13;

/// The values of a field of bytes that the schema does not know.
std::vector<std::string> UnknownBytes(const google::protobuf::Message& message, int number) {
  std::vector<std::string> values;
  const auto& fields = message.GetReflection()->GetUnknownFields(message);
  for (int i = 0; i < fields.field_count(); ++i) {
    const auto& field = fields.field(i);
    if (field.number() == number &&
        field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED) {
      values.push_back(field.length_delimited());
    }
  }
  return values;
}

std::string LastOrEmpty(const std::vector<std::string>& values) {
  return values.empty() ? "" : values.back();
}

/// Domain, name, overload.
using Key = std::tuple<std::string, std::string, std::string>;

Key KeyOf(const onnx::NodeProto& node) {
  return {std::string(NormalizedDomain(node.domain())), node.op_type(),
          LastOrEmpty(UnknownBytes(node, kNodeOverload))};
}

struct Function {
  const onnx::FunctionProto* proto;
  std::map<std::string, onnx::AttributeProto> defaults;
  std::shared_ptr<const OpsetVersions> opsets;
};

/// Calls f with every graph inside the node's attributes.
template <typename Node, typename F>
void ForGraphs(Node& node, const F& f) {
  if constexpr (std::is_const_v<Node>) {
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g()) f(attribute.g());
      for (const onnx::GraphProto& graph : attribute.graphs()) f(graph);
    }
  } else {
    for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) f(*attribute.mutable_g());
      for (onnx::GraphProto& graph : *attribute.mutable_graphs()) f(graph);
    }
  }
}

/// The names that values and nodes of a graph and of its subgraphs have.
void CollectNames(const onnx::GraphProto& graph, std::unordered_set<std::string>& names) {
  for (const auto& value : graph.input()) names.insert(value.name());
  for (const auto& value : graph.output()) names.insert(value.name());
  for (const auto& tensor : graph.initializer()) names.insert(tensor.name());
  for (const auto& node : graph.node()) {
    names.insert(node.name());
    names.insert(node.output().begin(), node.output().end());
    ForGraphs(node, [&](const onnx::GraphProto& inner) { CollectNames(inner, names); });
  }
}

/// What names of a function's body stand for at one call.
using Names = std::unordered_map<std::string, std::string>;
/// The attributes of one call by name.
using Arguments = std::map<std::string, onnx::AttributeProto>;

class Inliner {
 public:
  Inliner(onnx::ModelProto& model, NodeOpsets& opsets, Problems& problems)
      : model_(model), opsets_(opsets), problems_(problems) {}

  void Run() {
    if (model_.functions_size() == 0) return;
    ReadFunctions();
    if (!problems_.empty()) return;
    for (const auto& [key, function] : functions_) CheckCalls(key);
    if (!problems_.empty()) return;
    CollectNames(model_.graph(), taken_);
    InlineGraph(*model_.mutable_graph());
    model_.clear_functions();
  }

 private:
  void ReadFunctions() {
    for (const onnx::FunctionProto& proto : model_.functions()) {
      const Key key{std::string(NormalizedDomain(proto.domain())), proto.name(),
                    LastOrEmpty(UnknownBytes(proto, kFunctionOverload))};
      OpsetVersions versions;
      if (absl::Status status = ReadOpsetImports(proto, &versions); !status.ok()) {
        problems_.Add(status);
      }
      Function function{.proto = &proto,
                        .defaults = {},
                        .opsets = std::make_shared<const OpsetVersions>(std::move(versions))};
      for (const std::string& bytes : UnknownBytes(proto, kFunctionAttributeDefaults)) {
        onnx::AttributeProto attribute;
        if (!attribute.ParseFromString(bytes)) {
          problems_.AddInvalid("function '" + proto.name() + "' has a broken attribute");
        }
        function.defaults[attribute.name()] = attribute;
      }
      if (!functions_.emplace(key, std::move(function)).second) {
        problems_.AddInvalid("function '" + proto.name() + "' of domain '" + proto.domain() +
                             "' is defined twice");
      }
    }
  }

  const Function* FunctionOf(const onnx::NodeProto& node) const {
    const auto found = functions_.find(KeyOf(node));
    return found == functions_.end() ? nullptr : &found->second;
  }

  /// Reports functions that, directly or not, call themselves.
  void CheckCalls(const Key& key) {
    if (checked_.count(key) > 0) return;
    const auto open = std::find(calling_.begin(), calling_.end(), key);
    if (open != calling_.end()) {
      std::vector<std::string> names;
      for (auto at = open; at != calling_.end(); ++at) names.push_back(std::get<1>(*at));
      problems_.AddInvalid("functions call each other in a circle: '" +
                           absl::StrJoin(names, "', '") + "'");
      return;
    }
    if (calling_.size() == kDeepestCalls) {
      problems_.AddInvalid("functions call each other more than " + std::to_string(kDeepestCalls) +
                           " deep");
      return;
    }
    calling_.push_back(key);
    for (const onnx::NodeProto& node : functions_.at(key).proto->node()) CheckCallsOf(node);
    calling_.pop_back();
    checked_.insert(key);
  }

  void CheckCallsOf(const onnx::NodeProto& node) {
    if (FunctionOf(node) != nullptr) CheckCalls(KeyOf(node));
    ForGraphs(node, [&](const onnx::GraphProto& graph) {
      for (const onnx::NodeProto& inner : graph.node()) CheckCallsOf(inner);
    });
  }

  void InlineGraph(onnx::GraphProto& graph) {
    Nodes nodes;
    nodes.Swap(graph.mutable_node());
    for (onnx::NodeProto& node : nodes) Append(std::move(node), *graph.mutable_node());
  }

  /// The node, whose names are final, or what it calls.
  void Append(onnx::NodeProto node, Nodes& nodes) {
    if (const Function* function = FunctionOf(node)) {
      Call(node, *function, nodes);
      return;
    }
    onnx::NodeProto* added = nodes.Add();
    *added = std::move(node);
    if (body_opsets_ != nullptr) opsets_.Set(*added, body_opsets_);
    ForGraphs(*added, [&](onnx::GraphProto& graph) { InlineGraph(graph); });
  }

  void Call(const onnx::NodeProto& call, const Function& function, Nodes& nodes) {
    const onnx::FunctionProto& proto = *function.proto;
    if (call.input_size() > proto.input_size() || call.output_size() > proto.output_size()) {
      problems_.AddInvalid(
          Describe(call) + " has " + std::to_string(call.input_size()) + " inputs and " +
          std::to_string(call.output_size()) + " outputs, the function it calls has only " +
          std::to_string(proto.input_size()) + " and " + std::to_string(proto.output_size()));
      return;
    }
    const Arguments arguments = ArgumentsOf(call, function);
    const std::string prefix = (call.name().empty() ? call.op_type() : call.name()) + "/";
    Names names;
    for (int i = 0; i < proto.input_size(); ++i) {
      names[proto.input(i)] = i < call.input_size() ? call.input(i) : "";
    }
    std::vector<std::pair<std::string, std::string>> copies;
    for (int i = 0; i < proto.output_size(); ++i) {
      if (i >= call.output_size() || call.output(i).empty()) continue;
      if (!names.emplace(proto.output(i), call.output(i)).second) {
        copies.emplace_back(proto.output(i), call.output(i));
      }
    }
    const auto outer = std::exchange(body_opsets_, function.opsets);
    for (const onnx::NodeProto& node : proto.node()) {
      onnx::NodeProto copy = node;
      Rename(copy, names, arguments, prefix);
      if (++inlined_ > kMostNodes) break;
      Append(std::move(copy), nodes);
    }
    for (const auto& [from, to] : copies) AddCopy(names.at(from), to, nodes);
    body_opsets_ = outer;
    if (inlined_ == kMostNodes + 1) {
      problems_.AddInvalid("functions make more than " + std::to_string(kMostNodes) +
                           " nodes of the model");
      ++inlined_;
    }
  }

  static Arguments ArgumentsOf(const onnx::NodeProto& call, const Function& function) {
    Arguments arguments = function.defaults;
    for (const onnx::AttributeProto& attribute : call.attribute()) {
      arguments[attribute.name()] = attribute;
    }
    return arguments;
  }

  /// An output of the function that is one of its inputs, or a second name of an output.
  void AddCopy(const std::string& from, const std::string& to, Nodes& nodes) {
    onnx::NodeProto* copy = nodes.Add();
    copy->set_op_type("Identity");
    copy->set_name(Unique(to + "/Identity"));
    copy->add_input(from);
    copy->add_output(to);
    opsets_.Set(*copy, body_opsets_);
  }

  std::string Unique(const std::string& wanted) {
    std::string name = wanted;
    for (int suffix = 1; !taken_.insert(name).second; ++suffix) {
      name = wanted + "_" + std::to_string(suffix);
    }
    return name;
  }

  /// A node of a body becomes one of the model.
  void Rename(onnx::NodeProto& node, Names& names, const Arguments& arguments,
              const std::string& prefix) {
    node.set_name(Unique(prefix + (node.name().empty() ? node.op_type() : node.name())));
    for (std::string& input : *node.mutable_input()) input = NameOf(input, names);
    // Graphs that are arguments are the caller's, so they come later.
    ForGraphs(node, [&](onnx::GraphProto& graph) {
      Names inner = names;
      RenameGraph(graph, inner, arguments, prefix);
    });
    if (IsGradient(node)) RenameTensorAttributes(node, names);
    BindAttributes(node, arguments);
    for (std::string& output : *node.mutable_output()) output = Define(output, names, prefix);
  }

  static void RenameTensorAttributes(onnx::NodeProto& gradient, const Names& names) {
    for (onnx::AttributeProto& attribute : *gradient.mutable_attribute()) {
      if (attribute.has_s()) attribute.set_s(NameOf(attribute.s(), names));
      for (std::string& name : *attribute.mutable_strings()) name = NameOf(name, names);
    }
  }

  static std::string NameOf(const std::string& name, const Names& names) {
    const auto found = names.find(name);
    return found == names.end() ? name : found->second;
  }

  std::string Define(const std::string& name, Names& names, const std::string& prefix) {
    if (name.empty()) return name;
    const auto [at, is_new] = names.try_emplace(name);
    if (is_new) at->second = Unique(prefix + name);
    return at->second;
  }

  void RenameGraph(onnx::GraphProto& graph, Names& names, const Arguments& arguments,
                   const std::string& prefix) {
    const auto define = [&](auto* named) {
      names.erase(named->name());
      named->set_name(Define(named->name(), names, prefix));
    };
    for (auto& input : *graph.mutable_input()) define(&input);
    for (auto& tensor : *graph.mutable_initializer()) define(&tensor);
    for (auto& sparse : *graph.mutable_sparse_initializer()) define(sparse.mutable_values());
    for (onnx::NodeProto& node : *graph.mutable_node()) {
      for (const std::string& output : node.output()) names.erase(output);
      Rename(node, names, arguments, prefix);
    }
    for (auto& output : *graph.mutable_output()) output.set_name(NameOf(output.name(), names));
    graph.clear_value_info();
  }

  /// Attributes that refer to those of the call get their values; those the call does not have are
  /// absent.
  static void BindAttributes(onnx::NodeProto& node, const Arguments& arguments) {
    google::protobuf::RepeatedPtrField<onnx::AttributeProto> bound;
    for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
      if (attribute.ref_attr_name().empty()) {
        *bound.Add() = std::move(attribute);
        continue;
      }
      const auto found = arguments.find(attribute.ref_attr_name());
      if (found == arguments.end()) continue;
      onnx::AttributeProto* value = bound.Add();
      *value = found->second;
      value->set_name(attribute.name());
    }
    node.mutable_attribute()->Swap(&bound);
  }

  onnx::ModelProto& model_;
  NodeOpsets& opsets_;
  Problems& problems_;
  std::map<Key, Function> functions_;
  std::set<Key> checked_;
  std::vector<Key> calling_;
  std::unordered_set<std::string> taken_;
  /// Of the function whose body is being added; null in the model itself.
  std::shared_ptr<const OpsetVersions> body_opsets_;
  std::int64_t inlined_ = 0;
};

}  // namespace

void InlineFunctions(onnx::ModelProto& model, NodeOpsets& opsets, Problems& problems) {
  Inliner(model, opsets, problems).Run();
}

}  // namespace poprt::frontend
