#include "compiler/frontend/graph_structure.hpp"

#include <onnx/onnx_pb.h>

#include <unordered_map>

#include "compiler/ops/op.hpp"

namespace poprt::frontend {
namespace {

constexpr int kBeforeNodes = -1;

/// The graphs around a body; null around the model's own.
struct Surroundings {
  const std::unordered_map<std::string, int>& definitions;
  int position;  ///< of the node that the body belongs to
  const Surroundings* outer;

  /// Whether the body may read the name.
  bool Defines(const std::string& name) const {
    const auto found = definitions.find(name);
    if (found != definitions.end() && found->second < position) return true;
    return outer != nullptr && outer->Defines(name);
  }
};

/// Builds a GraphStructure, one step a method.
class StructureChecker {
 public:
  StructureChecker(const onnx::GraphProto& graph, const Surroundings* outer, Problems& problems)
      : graph_(graph), outer_(outer), problems_(problems) {}

  GraphStructure Run() {
    DefineValues();
    CheckBodies();
    CheckUses();
    CheckOutputs();
    FindLive();
    NameNodes();
    return std::move(result_);
  }

 private:
  void DefineValues() {
    std::unordered_set<std::string> initializers;
    const auto define = [&](const std::string& name) {
      if (name.empty()) {
        problems_.AddInvalid("an initializer has no name");
      } else if (!initializers.insert(name).second) {
        problems_.AddInvalid("initializer '" + name + "' is defined twice");
      }
      definitions_[name] = kBeforeNodes;
    };
    for (const onnx::TensorProto& tensor : graph_.initializer()) define(tensor.name());
    for (const onnx::SparseTensorProto& sparse : graph_.sparse_initializer()) {
      define(sparse.values().name());
    }
    std::unordered_set<std::string> inputs;
    for (const onnx::ValueInfoProto& input : graph_.input()) {
      if (input.name().empty()) {
        problems_.AddInvalid("a model input has no name");
      } else if (!inputs.insert(input.name()).second) {
        problems_.AddInvalid("input '" + input.name() + "' is defined twice");
      }
      definitions_[input.name()] = kBeforeNodes;
    }
    for (int i = 0; i < graph_.node_size(); ++i) {
      for (const std::string& output : graph_.node(i).output()) {
        if (output.empty()) continue;
        const auto [at, is_new] = definitions_.emplace(output, i);
        if (is_new) continue;
        problems_.AddInvalid(Describe(graph_.node(i)) + " defines '" + output +
                             "', which is already defined by " +
                             (at->second == kBeforeNodes ? "an input or initializer"
                                                         : Describe(graph_.node(at->second))));
      }
    }
  }

  void CheckBodies() {
    reads_.resize(static_cast<std::size_t>(graph_.node_size()));
    for (int i = 0; i < graph_.node_size(); ++i) {
      const onnx::NodeProto& node = graph_.node(i);
      std::set<std::string>& reads = reads_[static_cast<std::size_t>(i)];
      reads.insert(node.input().begin(), node.input().end());
      for (const onnx::AttributeProto& attribute : node.attribute()) {
        if (IsGradient(node) && attribute.name() == "y") reads.insert(attribute.s());
      }
      reads.erase("");
      for (const onnx::AttributeProto& attribute : node.attribute()) {
        if (!attribute.has_g()) continue;
        const Surroundings around{.definitions = definitions_, .position = i, .outer = outer_};
        const Problems::Within within(problems_, DescribeBody(node, attribute.name()));
        GraphStructure body = StructureChecker(attribute.g(), &around, problems_).Run();
        reads.insert(body.outer.begin(), body.outer.end());
        result_.bodies.emplace(&attribute.g(), std::move(body));
      }
    }
  }

  void CheckUses() {
    for (int i = 0; i < graph_.node_size(); ++i) {
      for (const std::string& input : reads_[static_cast<std::size_t>(i)]) {
        const auto found = definitions_.find(input);
        const std::string reads = " reads '" + input + "', which ";
        const bool is_early = found != definitions_.end() && found->second < i;
        if (!is_early && outer_ != nullptr && outer_->Defines(input)) {
          result_.outer.insert(input);
        } else if (found == definitions_.end()) {
          problems_.AddInvalid(Describe(graph_.node(i)) + reads +
                               "no node, input or initializer defines");
        } else if (found->second >= i) {
          problems_.AddInvalid(Describe(graph_.node(i)) + reads + WhyTooLate(found->second, i));
        }
      }
    }
  }

  std::string WhyTooLate(int definer, int user) const {
    if (definer == user) return "it defines itself: the graph has a cycle";
    const std::string who = Describe(graph_.node(definer));
    if (DependsOn(definer, user)) return who + " computes from it: the graph has a cycle";
    return who + " defines only later; sort the nodes topologically";
  }

  /// True if the node needs, directly or not, what `on` computes.
  bool DependsOn(int node, int on) const {
    std::vector<int> pending{node};
    std::unordered_set<int> seen{node};
    while (!pending.empty()) {
      const int current = pending.back();
      pending.pop_back();
      if (current == on) return true;
      for (const std::string& input : reads_[static_cast<std::size_t>(current)]) {
        const auto found = definitions_.find(input);
        if (found == definitions_.end() || found->second == kBeforeNodes) continue;
        if (seen.insert(found->second).second) pending.push_back(found->second);
      }
    }
    return false;
  }

  void CheckOutputs() {
    if (graph_.output_size() == 0) problems_.AddInvalid("the graph has no outputs");
    std::unordered_set<std::string> seen;
    for (const onnx::ValueInfoProto& output : graph_.output()) {
      const std::string& name = output.name();
      if (outer_ == nullptr && !seen.insert(name).second) {
        problems_.AddInvalid("output '" + name + "' is listed twice");
      } else if (definitions_.count(name) == 0) {
        if (outer_ != nullptr && outer_->Defines(name)) {
          result_.outer.insert(name);
        } else {
          problems_.AddInvalid("output '" + name + "' is defined by no node, input or initializer");
        }
      }
    }
  }

  void FindLive() {
    result_.live.assign(static_cast<std::size_t>(graph_.node_size()), false);
    std::vector<int> pending;
    const auto use = [&](const std::string& name) {
      if (name.empty() || !result_.used.insert(name).second) return;
      const auto found = definitions_.find(name);
      if (found != definitions_.end() && found->second != kBeforeNodes) {
        pending.push_back(found->second);
      }
    };
    for (const onnx::ValueInfoProto& output : graph_.output()) use(output.name());
    while (!pending.empty()) {
      const int node = pending.back();
      pending.pop_back();
      const auto at = static_cast<std::size_t>(node);
      if (result_.live[at]) continue;
      result_.live[at] = true;
      for (const std::string& input : reads_[at]) use(input);
    }
    std::erase_if(result_.outer,
                  [&](const std::string& name) { return result_.used.count(name) == 0; });
  }

  void NameNodes() {
    // Names the model gives come first, so that a generated one never takes them.
    std::unordered_set<std::string> taken;
    for (const onnx::NodeProto& node : graph_.node()) taken.insert(node.name());
    std::unordered_set<std::string> used;
    for (int i = 0; i < graph_.node_size(); ++i) {
      const onnx::NodeProto& node = graph_.node(i);
      std::string name = node.name();
      if (name.empty() || !used.insert(name).second) {
        const std::string stem = name.empty() ? node.op_type() + "_" + std::to_string(i) : name;
        name = stem;
        for (int suffix = 1; name.empty() || taken.count(name) > 0; ++suffix) {
          name = stem + "_" + std::to_string(suffix);
        }
        taken.insert(name);
      }
      result_.node_names.push_back(std::move(name));
    }
  }

  const onnx::GraphProto& graph_;
  const Surroundings* outer_;
  Problems& problems_;
  std::unordered_map<std::string, int> definitions_;
  /// For each node, what it and its bodies read.
  std::vector<std::set<std::string>> reads_;
  GraphStructure result_;
};

}  // namespace

GraphStructure CheckStructure(const onnx::GraphProto& graph, Problems& problems) {
  return StructureChecker(graph, nullptr, problems).Run();
}

std::vector<const onnx::GraphProto*> BodiesOf(const onnx::NodeProto& node) {
  std::vector<const onnx::GraphProto*> bodies;
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.has_g()) bodies.push_back(&attribute.g());
  }
  return bodies;
}

bool IsGradient(const onnx::NodeProto& node) {
  return node.op_type() == "Gradient" && node.domain() == ops::kTrainingDomain;
}

std::string DescribeBody(const onnx::NodeProto& node, const std::string& attribute) {
  return "in attribute '" + attribute + "' of " + Describe(node) + ": ";
}

std::string Describe(const onnx::NodeProto& node) {
  std::string text = "node '" + (node.name().empty() ? "<unnamed>" : node.name()) + "'";
  if (node.name().empty() && node.output_size() > 0) {
    text += " with output '" + node.output(0) + "'";
  }
  return text + " (" + node.op_type() + ")";
}

}  // namespace poprt::frontend
