#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/ir/graph.hpp"
#include "passes/decision.hpp"

/// Passes are free functions Graph -> Graph. One table (pass_table.cpp) names them all, one file
/// (pipeline.cpp) says in which order they run.
namespace poprt::passes {

/// A node from which manual_sharding walks towards the inputs, and where what it finds runs.
struct ShardingNode {
  std::string node;
  std::uint32_t device = 0;
  std::optional<std::uint32_t> stage = {};
};

/// What passes may need besides the graph. One context belongs to one model.
struct PassContext {
  /// Constant folding makes no tensor larger than this; negative: no bound. Bytes.
  std::int64_t max_tensor_size = -1;
  /// Operators that stay in float32 when the model becomes float16.
  std::set<std::string> fp16_skip_op_types;
  /// Values that become outputs, and outputs that go.
  std::vector<std::string> checkpoints;
  std::vector<std::string> remove_outputs;
  /// One message each, e.g. "value 'w' holds 1e30, clipped to 65504".
  std::function<void(const std::string&)> warn = [](const std::string&) {};
  /// The graph is a region: the types of its inputs and outputs belong to the node around it.
  bool in_region = false;
  /// Decides where a node can be computed in several ways.
  Decider decide = DecideByEstimate;
  /// Nodes of the model, those that are nearer to the inputs first.
  std::vector<ShardingNode> sharding = {};
};

/// Where a pass may stand. Conversion passes keep the graph expressible as ONNX of the chosen
/// opset; lowering passes may use operators of the host backend and run on what was exported. The
/// plan for the IPU takes some of them, those that find patterns it has operators for; none is
/// only for it.
enum class Stage : std::uint8_t { kConversion, kLowering, kIpuPlan };

/// Whether a pass is for the regions of control-flow nodes as well, innermost first.
enum class Regions : std::uint8_t { kToo, kNo };

/// One row of the pass table.
struct PassDef {
  std::string_view name;
  std::string_view summary;  ///< one sentence
  Stage stage = Stage::kConversion;
  absl::Status (*run)(ir::Graph& graph, const PassContext& context) = nullptr;
  Regions regions = Regions::kToo;
};

/// The row of that name, or null.
const PassDef* FindPass(std::string_view name);

/// All rows in the order of their names.
std::span<const PassDef> AllPasses();

/// What one pass did.
struct PassRecord {
  std::string name;
  double seconds = 0;
  bool changed = false;
  std::size_t nodes_after = 0;
};

/// Which passes run, in order: pipeline.cpp's list for the precision, without `skip`, then `extra`.
struct PipelineOptions {
  std::string precision = "fp32";  ///< "fp32" or "fp16"
  std::vector<std::string> extra;  ///< run after the default passes, in this order
  std::set<std::string> skip;
};

/// InvalidArgument names every unknown pass with the nearest known one.
absl::StatusOr<std::vector<const PassDef*>> BuildPipeline(Stage stage,
                                                          const PipelineOptions& options);

/// Runs passes in order, on regions as well. After each the IR is verified; a broken invariant is
/// an Internal error that names the pass. `progress` hears of every pass that is done.
absl::StatusOr<std::vector<PassRecord>> RunPasses(
    ir::Graph& graph, std::span<const PassDef* const> pipeline, const PassContext& context,
    const std::function<void(const PassRecord&)>& progress = {});

}  // namespace poprt::passes
