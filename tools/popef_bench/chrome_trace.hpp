#pragma once

#include <iosfwd>
#include <span>

#include "tools/popef_bench/profile.hpp"

namespace poprt::bench {

/// Writes the fastest run of each profile as Chrome trace events (JSON, for chrome://tracing and
/// Perfetto), one row a graph.
void WriteChromeTrace(std::span<const Profile> profiles, std::ostream& out);

}  // namespace poprt::bench
