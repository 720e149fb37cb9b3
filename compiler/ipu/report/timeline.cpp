#include "compiler/ipu/report/timeline.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "compiler/ipu/report/plan_figures.hpp"

namespace poprt::ipu {
namespace {

constexpr double kNanosecondsPerSecond = 1e9;

/// Enough for every stage of the pipeline to be seen beside the two others.
constexpr std::uint32_t kPipelinedBatches = 3;

std::uint64_t FromSeconds(double seconds) {
  if (!std::isfinite(seconds) || seconds <= 0) return 0;
  return static_cast<std::uint64_t>(std::llround(seconds * kNanosecondsPerSecond));
}

/// How long each activity takes for a batch, in nanoseconds.
struct Durations {
  std::uint64_t load = 0;
  std::uint64_t copy_in = 0;
  std::uint64_t compute = 0;
  std::uint64_t copy_out = 0;
  std::uint64_t store = 0;
};

Durations DurationsOf(const GraphPlan& graph, const Performance& performance,
                      const Platform& platform) {
  const std::array<PhaseFigures, kPhases> phases = PhasesOf(graph);
  const std::uint64_t in = phases[static_cast<std::size_t>(Phase::kIoToCompute)].cycles;
  const std::uint64_t out = phases[static_cast<std::size_t>(Phase::kComputeToIo)].cycles;
  return {.load = FromSeconds(performance.host_load_seconds),
          .copy_in = Nanoseconds(platform, in),
          .compute = Nanoseconds(platform, graph.cycles() - in - out),
          .copy_out = Nanoseconds(platform, out),
          .store = FromSeconds(performance.host_store_seconds)};
}

class TimelineBuilder {
 public:
  TimelineBuilder(const Durations& durations, Track stream_track)
      : durations_(durations), stream_track_(stream_track) {}

  std::vector<Span> Run(std::uint32_t batches) {
    std::uint64_t now = Load(0, 0);
    for (std::uint32_t batch = 0; batch < batches; ++batch) {
      now = Copy(batch, Activity::kCopyIn, now, durations_.copy_in);
      const std::uint64_t computed = Compute(batch, now);
      std::uint64_t streamed = now;
      if (batch > 0) streamed = Store(batch - 1, streamed);
      if (batch + 1 < batches) streamed = Load(batch + 1, streamed);
      now = std::max(computed, streamed);
      now = Copy(batch, Activity::kCopyOut, now, durations_.copy_out);
    }
    Store(batches - 1, now);
    return spans_;
  }

 private:
  std::uint64_t Add(std::uint32_t batch, Track track, Activity activity, std::uint64_t begin,
                    std::uint64_t duration) {
    if (duration > 0) spans_.push_back({batch, track, activity, begin, begin + duration});
    return begin + duration;
  }

  std::uint64_t Stream(std::uint32_t batch, Activity activity, std::uint64_t begin,
                       std::uint64_t duration) {
    Add(batch, Track::kHost, activity, begin, duration);
    return Add(batch, stream_track_, activity, begin, duration);
  }

  std::uint64_t Load(std::uint32_t batch, std::uint64_t begin) {
    return Stream(batch, Activity::kLoad, begin, durations_.load);
  }

  std::uint64_t Store(std::uint32_t batch, std::uint64_t begin) {
    return Stream(batch, Activity::kStore, begin, durations_.store);
  }

  std::uint64_t Compute(std::uint32_t batch, std::uint64_t begin) {
    return Add(batch, Track::kComputeTiles, Activity::kCompute, begin, durations_.compute);
  }

  std::uint64_t Copy(std::uint32_t batch, Activity activity, std::uint64_t begin,
                     std::uint64_t duration) {
    Add(batch, Track::kIoTiles, activity, begin, duration);
    return Add(batch, Track::kComputeTiles, activity, begin, duration);
  }

  Durations durations_;
  Track stream_track_;
  std::vector<Span> spans_;
};

}  // namespace

std::string_view TrackName(Track track) {
  switch (track) {
    case Track::kComputeTiles:
      return "compute tiles";
    case Track::kIoTiles:
      return "I/O tiles";
    case Track::kHost:
      return "host";
  }
  return "";
}

std::string_view ActivityName(Activity activity) {
  switch (activity) {
    case Activity::kLoad:
      return "load";
    case Activity::kCopyIn:
      return "copy in";
    case Activity::kCompute:
      return "compute";
    case Activity::kCopyOut:
      return "copy out";
    case Activity::kStore:
      return "store";
  }
  return "";
}

std::vector<Span> Timeline(const Plan& plan, std::size_t graph) {
  const Performance performance =
      graph < plan.performance.size() ? plan.performance[graph] : Performance{};
  const Track stream_track = plan.partition.io_tiles > 0 ? Track::kIoTiles : Track::kComputeTiles;
  TimelineBuilder builder(DurationsOf(plan.graphs.at(graph), performance, plan.platform),
                          stream_track);
  return builder.Run(OverlapsTransfers(plan) ? kPipelinedBatches : 1);
}

std::uint64_t Nanoseconds(const Platform& platform, std::uint64_t cycles) {
  if (platform.clock_hz == 0) return 0;
  return FromSeconds(static_cast<double>(cycles) / static_cast<double>(platform.clock_hz));
}

}  // namespace poprt::ipu
