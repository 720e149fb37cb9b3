#pragma once

#include <string>

#include "compiler/ipu/plan/plan.hpp"

namespace poprt::ipu {

/// The timeline of every graph as Chrome trace events, for Perfetto: a process for a graph, a track
/// for its compute tiles (one for each IPU), its I/O tiles and the host; batches hold operators,
/// operators hold supersteps. Microseconds of the platform's clock, sorted by time. Ends with a
/// line feed.
std::string TraceJson(const Plan& plan);

}  // namespace poprt::ipu
