#include "compiler/ipu/report/timeline.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ipu/report/plan_fixture.hpp"

namespace poprt::ipu {
namespace {

/// At 1 GHz, with cycles of its steps.
Plan PlanOf(std::uint32_t io_tiles, std::int64_t batches_per_step, const Performance& performance,
            std::uint64_t copy_in, std::uint64_t compute, std::uint64_t copy_out) {
  GraphPlan graph;
  const auto step = [](Phase phase, std::uint64_t cycles) {
    return Superstep{.phase = phase, .name = "", .vertex = "", .cycles = cycles};
  };
  graph.operators = {
      {.name = "", .op = "HostLoad", .steps = {step(Phase::kIoToCompute, copy_in)}},
      {.name = "", .op = "Add", .steps = {step(Phase::kCompute, compute)}},
      {.name = "", .op = "HostStore", .steps = {step(Phase::kComputeToIo, copy_out)}}};
  Plan plan;
  plan.platform = {.name = "bench", .clock_hz = 1'000'000'000};
  plan.options.batches_per_step = batches_per_step;
  plan.partition = {.io_tiles = io_tiles, .compute_tiles = 4};
  plan.graphs.push_back(std::move(graph));
  plan.performance.push_back(performance);
  return plan;
}

std::string TextOf(const std::vector<Span>& spans, Track track) {
  std::string text;
  for (const Span& span : spans) {
    if (span.track != track) continue;
    text += std::string(ActivityName(span.activity)) + " " + std::to_string(span.batch) + " " +
            std::to_string(span.begin) + "-" + std::to_string(span.end) + "; ";
  }
  return text;
}

TEST(Timeline, IsSerialWithoutIoTiles) {
  const Performance performance{.host_load_seconds = 30e-9, .host_store_seconds = 5e-9};
  const std::vector<Span> spans = Timeline(PlanOf(0, 16, performance, 0, 100, 0), 0);
  EXPECT_EQ(TextOf(spans, Track::kHost), "load 0 0-30; store 0 130-135; ");
  EXPECT_EQ(TextOf(spans, Track::kComputeTiles),
            "load 0 0-30; compute 0 30-130; store 0 130-135; ");
  EXPECT_EQ(TextOf(spans, Track::kIoTiles), "");
}

TEST(Timeline, IsSerialWithTooFewBatchesAStep) {
  const Performance performance{.host_load_seconds = 30e-9, .host_store_seconds = 5e-9};
  const std::vector<Span> spans = Timeline(PlanOf(32, 2, performance, 2, 100, 3), 0);
  EXPECT_EQ(TextOf(spans, Track::kIoTiles),
            "load 0 0-30; copy in 0 30-32; copy out 0 132-135; store 0 135-140; ");
  EXPECT_EQ(TextOf(spans, Track::kComputeTiles),
            "copy in 0 30-32; compute 0 32-132; copy out 0 132-135; ");
}

TEST(Timeline, OverlapsThreeBatchesWithIoTiles) {
  const Performance performance{.host_load_seconds = 30e-9, .host_store_seconds = 5e-9};
  const std::vector<Span> spans = Timeline(PlanOf(32, 3, performance, 2, 100, 3), 0);
  EXPECT_EQ(TextOf(spans, Track::kHost),
            "load 0 0-30; load 1 32-62; store 0 137-142; load 2 142-172; store 1 242-247; "
            "store 2 345-350; ");
  EXPECT_EQ(TextOf(spans, Track::kComputeTiles),
            "copy in 0 30-32; compute 0 32-132; copy out 0 132-135; "
            "copy in 1 135-137; compute 1 137-237; copy out 1 237-240; "
            "copy in 2 240-242; compute 2 242-342; copy out 2 342-345; ");
}

TEST(Timeline, WaitsForTheHostWhenThatTakesLonger) {
  const Performance performance{.host_load_seconds = 300e-9, .host_store_seconds = 100e-9};
  const std::vector<Span> spans = Timeline(PlanOf(32, 3, performance, 2, 100, 3), 0);
  // The steady state of section 5.1: the longer of computing and transfers, and the copies.
  std::map<std::uint32_t, std::uint64_t> begin;
  for (const Span& span : spans) {
    if (span.activity == Activity::kCompute) begin[span.batch] = span.begin;
  }
  EXPECT_EQ(begin[2] - begin[1], 300U + 100U + 2U + 3U);
}

TEST(Timeline, SpansOfATrackDoNotOverlap) {
  const Plan plan = fixture::RealisticPlan(6, 64);
  const std::vector<Span> spans = Timeline(plan, 0);
  std::map<Track, std::uint64_t> end;
  for (const Span& span : spans) {
    EXPECT_GE(span.begin, end[span.track]);
    EXPECT_GT(span.end, span.begin);
    end[span.track] = span.end;
  }
}

TEST(Timeline, HasNoTimeWithoutAClock) {
  EXPECT_EQ(Nanoseconds(Platform{}, 100), 0U);
  EXPECT_EQ(Nanoseconds(fixture::C600(), 150), 100U);
}

}  // namespace
}  // namespace poprt::ipu
