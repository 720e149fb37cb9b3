#include "compiler/driver/lower_graph.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/driver/return_free_memory.hpp"
#include "compiler/host/order_steps.hpp"
#include "compiler/lower/in_place.hpp"
#include "compiler/lower/lower.hpp"
#include "compiler/lower/stages.hpp"
#include "compiler/lower/views.hpp"
#include "compiler/tuner/tune_block_sizes.hpp"

namespace poprt::driver {
namespace {

/// Default passes that make room for faster kernels at a price, such as conversions at the borders
/// of a layout: a model of which few operators gain may be faster without.
constexpr std::array<const char*, 3> kTradeOffs{"attention_pattern", "block_channels",
                                                "fuse_pointwise_depthwise"};

struct Lowered {
  lower::Schedule schedule;
  std::set<std::string> passes;  ///< those that changed the graph
};

/// How LowerGraph lowers in one way.
class GraphLowering {
 public:
  GraphLowering(bool constant_weights, const Log& warn, tuner::KernelTuner* tuner)
      : constant_weights_(constant_weights) {
    context_.warn = warn;
    if (tuner == nullptr) return;
    context_.decide = [tuner](const ir::Graph& graph, const passes::Decision& decision) {
      return tuner->Decide(graph, decision);
    };
  }

  absl::StatusOr<Lowered> Run(ir::Graph graph, const passes::PipelineOptions& options) const {
    const auto pipeline = passes::BuildPipeline(passes::Stage::kLowering, options);
    if (!pipeline.ok()) return pipeline.status();
    std::vector<lower::Weight> weights;
    if (!constant_weights_) weights = lower::TakeWeights(graph);
    const auto records = passes::RunPasses(graph, *pipeline, context_);
    if (!records.ok()) return records.status();
    ReturnFreeMemory();
    absl::StatusOr<lower::Schedule> schedule = lower::Lower(std::move(graph), std::move(weights));
    if (!schedule.ok()) return schedule.status();
    lower::MakeViews(*schedule);
    lower::OrderByStage(*schedule);
    host::OrderSteps(*schedule);
    lower::ComputeInPlace(*schedule);
    Lowered lowered{.schedule = *std::move(schedule), .passes = {}};
    for (const passes::PassRecord& record : *records) {
      if (record.changed) lowered.passes.insert(record.name);
    }
    return lowered;
  }

 private:
  passes::PassContext context_;
  bool constant_weights_;
};

/// Leaves out what makes the graph slower, one pass after the other, then tunes what is left.
absl::StatusOr<Lowered> LowerTuned(const ir::Graph& graph, passes::PipelineOptions options,
                                   const GraphLowering& lowering, tuner::KernelTuner& tuner) {
  absl::StatusOr<Lowered> best = lowering.Run(graph, options);
  if (!best.ok()) return best;
  std::vector<tuner::TunedChoice> choices = tuner.TakeChoices();
  for (const std::string pass : kTradeOffs) {
    const bool is_wanted = std::ranges::count(options.extra, pass) > 0;
    if (is_wanted || !best->passes.contains(pass)) continue;
    passes::PipelineOptions fewer = options;
    fewer.skip.insert(pass);
    absl::StatusOr<Lowered> other = lowering.Run(graph, fewer);
    if (!other.ok()) return other;
    std::vector<tuner::TunedChoice> other_choices = tuner.TakeChoices();
    if (tuner.IsFaster("graph '" + graph.name + "'", other->schedule, "without " + pass,
                       best->schedule, "with " + pass)) {
      options = std::move(fewer);
      best = std::move(other);
      choices = std::move(other_choices);
    }
    tuner.Keep(tuner.TakeChoices());
  }
  tuner.Keep(choices);
  tuner::TuneBlockSizes(best->schedule, tuner);
  return best;
}

}  // namespace

absl::StatusOr<lower::Schedule> LowerGraph(ir::Graph graph, const passes::PipelineOptions& options,
                                           bool constant_weights, const Log& warn,
                                           tuner::KernelTuner* tuner) {
  const GraphLowering lowering(constant_weights, warn, tuner);
  absl::StatusOr<Lowered> lowered = tuner == nullptr ? lowering.Run(std::move(graph), options)
                                                     : LowerTuned(graph, options, lowering, *tuner);
  if (!lowered.ok()) return lowered.status();
  return std::move(lowered->schedule);
}

}  // namespace poprt::driver
