#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "compiler/ipu/plan/plan.hpp"

/// Who is busy with which batch, and when.
namespace poprt::ipu {

enum class Track : std::uint8_t { kComputeTiles, kIoTiles, kHost };

enum class Activity : std::uint8_t { kLoad, kCopyIn, kCompute, kCopyOut, kStore };

/// "compute tiles", "I/O tiles", "host".
std::string_view TrackName(Track track);

/// "load", "copy in", "compute", "copy out", "store".
std::string_view ActivityName(Activity activity);

/// Time on one track, in nanoseconds from the start of the first load.
struct Span {
  std::uint32_t batch = 0;
  Track track = Track::kComputeTiles;
  Activity activity = Activity::kCompute;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// Three batches when transfers overlap, which fill and drain the pipeline of section 5.1: while
/// batch i computes, i - 1 is stored and i + 1 loaded. Else one batch. Spans of a track follow each
/// other without overlapping. A copy between I/O and compute tiles takes both. `graph` is a number
/// of the plan's; without its performance, transfers take no time. The host's call, which a step
/// makes once, is not in it.
std::vector<Span> Timeline(const Plan& plan, std::size_t graph);

/// Nanoseconds that cycles of a tile take, rounded to the nearest; 0 when the clock is not known.
std::uint64_t Nanoseconds(const Platform& platform, std::uint64_t cycles);

}  // namespace poprt::ipu
