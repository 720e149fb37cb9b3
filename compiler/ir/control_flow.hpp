#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/ir/graph.hpp"

/// The two operators with regions; Scan becomes a Loop when it is imported.
///
///     If(cond, captured...) -> results...
///       two regions, then and else: (captured...) -> results...
///     Loop(trip count or -, cond or -, carried..., captured...) -> carried..., stacked...
///       one region: (iteration, cond, carried..., captured...) -> cond, carried..., slices...
///       attribute num_carried
///
/// Conditions are bool scalars, trip count and iteration int64 scalars. What is carried keeps its
/// type from iteration to iteration. A stacked result has the slices of all iterations along a new
/// first axis; its extent is the number of iterations, which is then known.
namespace poprt::ir {

/// Attribute of Loop.
inline constexpr std::string_view kNumCarried = "num_carried";

/// Inputs of a Loop before the carried ones, of the node and of its region alike.
inline constexpr std::size_t kLoopControls = 2;

bool IsControlFlow(const Node& node);

/// Carried values of a Loop.
std::size_t NumCarried(const Node& node);

/// Position of the first captured value among the inputs of the node; the rest are captured, too.
std::size_t FirstCaptured(const Node& node);

/// The input of every region that stands for input `i` of the node, which is not the condition of
/// an If.
std::size_t RegionInput(const Node& node, std::size_t i);

/// What messages call a region: "the then branch of node 'a'", "the body of node 'a'".
std::string DescribeRegion(const Node& node, std::size_t region);

/// The attribute in which ONNX has the region.
std::string RegionAttribute(const Node& node, std::size_t region);

/// Why the node and its regions do not fit together, or nothing. Looks at operands and types, not
/// into the regions.
std::optional<std::string> FindRegionProblem(const Graph& graph, const Node& node);

/// Captured values that are constants of `graph`, which the node is in, become constants of the
/// regions.
void CaptureConstants(const Graph& graph, Node& node);

/// Compacts the regions, having dropped results that are not among `used` (one for each output of
/// the node), then drops captured values that no region reads.
void CompactRegions(Node& node, const std::vector<bool>& used);

}  // namespace poprt::ir
