#pragma once

#include "compiler/ipu/plan/plan.hpp"

namespace poprt::ipu {

/// Overlapped transfers need a batch to load, one to compute and one to store (section 5.1).
inline constexpr std::int64_t kPipelineDepth = 3;

/// What a graph takes on the platform (sections 5.1 and 7.1.5). `serial_seconds` is what a batch
/// takes when it is loaded, computed and stored before the next; `overlap_seconds` what it takes in
/// the steady state of the pipeline when there are I/O tiles and a step has at least
/// kPipelineDepth batches. Both include the batch's share of the host's call. `throughput` also
/// counts filling and draining the pipeline once a step. IPUs that run stages of a pipeline work at
/// the same time: the slowest decides. `batches_per_step` is at least 1.
Performance Predict(const GraphPlan& graph, const Target& target, const Platform& platform,
                    const TilePartition& partition, const PlanOptions& options);

}  // namespace poprt::ipu
