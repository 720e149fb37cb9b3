#pragma once

#include "absl/status/statusor.h"
#include "compiler/driver/convert.hpp"
#include "compiler/ir/graph.hpp"
#include "compiler/lower/schedule.hpp"
#include "compiler/tuner/kernel_tuner.hpp"
#include "passes/pass.hpp"

namespace poprt::driver {

/// The lowering passes, then everything up to a schedule in its final order. Without
/// `constant_weights` the weights become variables. Nodes that say a stage of the pipeline run in
/// it (lower::OrderByStage); IPUs mean nothing here.
///
/// With a tuner, which may be null, choices between kernels are the tuner's, and so is whether
/// lowering passes run that suit most models but not all.
absl::StatusOr<lower::Schedule> LowerGraph(ir::Graph graph, const passes::PipelineOptions& options,
                                           bool constant_weights, const Log& warn,
                                           tuner::KernelTuner* tuner);

}  // namespace poprt::driver
