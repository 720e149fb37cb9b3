#include "compiler/ir/control_flow.hpp"

#include <algorithm>

namespace poprt::ir {
namespace {

constexpr std::string_view kIf = "If";
constexpr std::string_view kLoop = "Loop";

/// Collects the first thing that is wrong.
class RegionCheck {
 public:
  RegionCheck(const Graph& graph, const Node& node) : graph_(graph), node_(node) {}

  std::optional<std::string> Run() {
    const bool is_loop = node_.op == kLoop;
    Expect(node_.regions.size() == (is_loop ? 1U : 2U), "the number of regions is wrong");
    Expect(node_.inputs.size() >= FirstCaptured(node_), "there are too few inputs");
    if (problem_) return problem_;
    for (std::size_t r = 0; r < node_.regions.size() && !problem_; ++r) CheckRegion(r);
    return problem_;
  }

 private:
  void Expect(bool condition, const std::string& message) {
    if (!condition && !problem_) problem_ = message;
  }

  void CheckScalar(ValueId id, ElementType element, bool may_be_absent, const std::string& what) {
    if (id == kAbsent) return Expect(may_be_absent, what + " is missing");
    Expect(graph_.type(id) == TensorType{element, {}}, what + " is " + ToString(graph_.type(id)));
  }

  void CheckRegion(std::size_t r) {
    const Graph& region = node_.regions[r];
    const std::string where = DescribeRegion(node_, r);
    const bool is_loop = node_.op == kLoop;
    const std::size_t first = is_loop ? kLoopControls : 1;
    CheckScalar(node_.inputs[first - 1], ElementType::kBool, is_loop, "the condition");
    Expect(region.inputs.size() == node_.inputs.size() - (is_loop ? 0 : 1),
           where + " has another number of inputs than the node");
    Expect(region.outputs.size() == node_.outputs.size() + (is_loop ? 1 : 0),
           where + " has another number of results than the node");
    if (problem_) return;
    for (std::size_t i = first; i < node_.inputs.size(); ++i) {
      Expect(node_.inputs[i] != kAbsent, "input " + std::to_string(i) + " is absent");
      if (problem_) return;
      Same(graph_.type(node_.inputs[i]), region.type(region.inputs[RegionInput(node_, i)]),
           where + ", input " + std::to_string(i));
    }
    if (is_loop) return CheckLoop(region, where);
    for (std::size_t i = 0; i < node_.outputs.size(); ++i) CheckResult(region, i, i, where);
  }

  void CheckLoop(const Graph& region, const std::string& where) {
    CheckScalar(node_.inputs[0], ElementType::kInt64, true, "the trip count");
    Same(region.type(region.inputs[0]), {ElementType::kInt64, {}}, where + ", iteration");
    Same(region.type(region.inputs[1]), {ElementType::kBool, {}}, where + ", condition");
    Same(region.type(region.outputs[0]), {ElementType::kBool, {}}, where + ", next condition");
    const std::size_t carried = NumCarried(node_);
    Expect(carried <= node_.outputs.size(), "there are fewer results than carried values");
    if (problem_) return;
    for (std::size_t i = 0; i < carried; ++i) {
      CheckResult(region, i, i + 1, where);
      Same(region.type(region.inputs[i + kLoopControls]), region.type(region.outputs[i + 1]),
           where + ", carried value " + std::to_string(i));
    }
    for (std::size_t i = carried; i < node_.outputs.size(); ++i) {
      if (node_.outputs[i] == kAbsent) continue;
      TensorType slice = graph_.type(node_.outputs[i]);
      Expect(!slice.shape.empty(), "result " + std::to_string(i) + " has no axis to stack along");
      if (problem_) return;
      slice.shape.erase(slice.shape.begin());
      Same(slice, region.type(region.outputs[i + 1]), where + ", slice " + std::to_string(i));
    }
  }

  void CheckResult(const Graph& region, std::size_t output, std::size_t result,
                   const std::string& where) {
    if (node_.outputs[output] == kAbsent) return;
    Same(graph_.type(node_.outputs[output]), region.type(region.outputs[result]),
         where + ", result " + std::to_string(output));
  }

  void Same(const TensorType& a, const TensorType& b, const std::string& what) {
    Expect(a == b, what + " is " + ToString(a) + " and " + ToString(b));
  }

  const Graph& graph_;
  const Node& node_;
  std::optional<std::string> problem_;
};

bool Reads(const Graph& graph, ValueId id) {
  const auto has = [&](const std::vector<ValueId>& ids) {
    return std::find(ids.begin(), ids.end(), id) != ids.end();
  };
  return has(graph.outputs) || std::any_of(graph.nodes.begin(), graph.nodes.end(),
                                           [&](const Node& node) { return has(node.inputs); });
}

/// The values after the first `first` that are not dropped.
template <typename T>
void Drop(std::vector<T>& list, std::size_t first, const std::vector<bool>& keep) {
  std::size_t end = first;
  for (std::size_t i = first; i < list.size(); ++i) {
    if (keep[i - first]) list[end++] = list[i];
  }
  list.resize(end);
}

void DropResults(Node& node, const std::vector<bool>& used) {
  const bool is_loop = node.op == kLoop;
  // What a Loop carries may be needed by its next iteration.
  const std::size_t first = is_loop ? NumCarried(node) : 0;
  const std::vector<bool> keep(used.begin() + static_cast<std::ptrdiff_t>(first), used.end());
  Drop(node.outputs, first, keep);
  for (Graph& region : node.regions) {
    const std::size_t offset = first + (is_loop ? 1 : 0);
    Drop(region.outputs, offset, keep);
    Drop(region.output_names, offset, keep);
  }
}

/// Keeps some of the captured values.
void DropCaptured(Node& node, const std::vector<bool>& keep) {
  if (std::find(keep.begin(), keep.end(), false) == keep.end()) return;
  const std::size_t first = FirstCaptured(node);
  for (Graph& region : node.regions) {
    Drop(region.inputs, RegionInput(node, first), keep);
    region.Compact();
  }
  Drop(node.inputs, first, keep);
}

}  // namespace

bool IsControlFlow(const Node& node) { return node.op == kIf || node.op == kLoop; }

std::size_t NumCarried(const Node& node) {
  return static_cast<std::size_t>(node.attributes.get_int(kNumCarried, 0));
}

std::size_t FirstCaptured(const Node& node) {
  return node.op == kLoop ? kLoopControls + NumCarried(node) : 1;
}

std::size_t RegionInput(const Node& node, std::size_t i) { return node.op == kLoop ? i : i - 1; }

std::string DescribeRegion(const Node& node, std::size_t region) {
  const std::string part = node.op == kLoop ? "body" : region == 0 ? "then branch" : "else branch";
  return "the " + part + " of node '" + node.name + "'";
}

std::string RegionAttribute(const Node& node, std::size_t region) {
  if (node.op == kLoop) return "body";
  return region == 0 ? "then_branch" : "else_branch";
}

std::optional<std::string> FindRegionProblem(const Graph& graph, const Node& node) {
  if (IsControlFlow(node)) return RegionCheck(graph, node).Run();
  if (!node.regions.empty()) return node.op + " has no regions";
  return std::nullopt;
}

void CompactRegions(Node& node, const std::vector<bool>& used) {
  DropResults(node, used);
  for (Graph& region : node.regions) region.Compact();
  std::vector<bool> keep;
  for (std::size_t i = FirstCaptured(node); i < node.inputs.size(); ++i) {
    const std::size_t input = RegionInput(node, i);
    keep.push_back(std::any_of(node.regions.begin(), node.regions.end(), [&](const Graph& region) {
      return Reads(region, region.inputs[input]);
    }));
  }
  DropCaptured(node, keep);
}

void CaptureConstants(const Graph& graph, Node& node) {
  std::vector<bool> keep;
  for (std::size_t i = FirstCaptured(node); i < node.inputs.size(); ++i) {
    const Tensor* constant = graph.ConstantOf(node.inputs[i]);
    keep.push_back(constant == nullptr);
    if (constant == nullptr) continue;
    for (Graph& region : node.regions) {
      region.value(region.inputs[RegionInput(node, i)]).constant = *constant;
    }
  }
  DropCaptured(node, keep);
}

}  // namespace poprt::ir
