#include "compiler/frontend/graph_structure.hpp"

#include <onnx/onnx_pb.h>

#include <unordered_map>

namespace poprt::frontend {
namespace {

constexpr int kBeforeNodes = -1;

/// Builds a GraphStructure, one step a method.
class StructureChecker {
 public:
  StructureChecker(const onnx::GraphProto& graph, Problems& problems)
      : graph_(graph), problems_(problems) {}

  GraphStructure Run() {
    DefineValues();
    CheckUses();
    CheckOutputs();
    FindLive();
    NameNodes();
    return std::move(result_);
  }

 private:
  void DefineValues() {
    std::unordered_set<std::string> initializers;
    for (const onnx::TensorProto& tensor : graph_.initializer()) {
      if (tensor.name().empty()) {
        problems_.AddInvalid("an initializer has no name");
      } else if (!initializers.insert(tensor.name()).second) {
        problems_.AddInvalid("initializer '" + tensor.name() + "' is defined twice");
      }
      definitions_[tensor.name()] = kBeforeNodes;
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

  void CheckUses() {
    for (int i = 0; i < graph_.node_size(); ++i) {
      for (const std::string& input : graph_.node(i).input()) {
        if (input.empty()) continue;
        const auto found = definitions_.find(input);
        const std::string reads = " reads '" + input + "', which ";
        if (found == definitions_.end()) {
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
      for (const std::string& input : graph_.node(current).input()) {
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
      if (!seen.insert(output.name()).second) {
        problems_.AddInvalid("output '" + output.name() + "' is listed twice");
      } else if (definitions_.count(output.name()) == 0) {
        problems_.AddInvalid("output '" + output.name() +
                             "' is defined by no node, input or initializer");
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
      for (const std::string& input : graph_.node(node).input()) use(input);
    }
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
  Problems& problems_;
  std::unordered_map<std::string, int> definitions_;
  GraphStructure result_;
};

}  // namespace

GraphStructure CheckStructure(const onnx::GraphProto& graph, Problems& problems) {
  return StructureChecker(graph, problems).Run();
}

std::string Describe(const onnx::NodeProto& node) {
  std::string text = "node '" + (node.name().empty() ? "<unnamed>" : node.name()) + "'";
  if (node.name().empty() && node.output_size() > 0) {
    text += " with output '" + node.output(0) + "'";
  }
  return text + " (" + node.op_type() + ")";
}

}  // namespace poprt::frontend
