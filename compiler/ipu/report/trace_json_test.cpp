#include "compiler/ipu/report/trace_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ipu/report/plan_fixture.hpp"

namespace poprt::ipu {
namespace {

using Json = nlohmann::json;

std::vector<Json> EventsOf(const Plan& plan, const std::string& phase) {
  std::vector<Json> events;
  const Json trace = Json::parse(TraceJson(plan));
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == phase) events.push_back(event);
  }
  return events;
}

std::int64_t NanosecondsOf(const Json& microseconds) {
  return std::llround(microseconds.get<double>() * 1000);
}

TEST(TraceJson, NamesProcessesAndTracks) {
  std::vector<std::string> names;
  for (const Json& event : EventsOf(fixture::RealisticPlan(2, 64), "M")) {
    names.push_back(event["args"]["name"]);
  }
  EXPECT_THAT(names,
              ::testing::ElementsAre("encoder", "host", "I/O tiles (64)", "compute tiles (1408)",
                                     "ranker", "host", "I/O tiles (64)", "compute tiles (1408)"));
}

TEST(TraceJson, IsSortedByTime) {
  double last = 0;
  const Json trace = Json::parse(TraceJson(fixture::RealisticPlan(6, 64)));
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == "M") continue;
    EXPECT_GE(event["ts"].get<double>(), last);
    last = event["ts"].get<double>();
  }
  EXPECT_GT(last, 0);
}

TEST(TraceJson, NestsEvents) {
  // On each track an event lies within the one that is open when it begins, or after it.
  std::map<std::pair<int, int>, std::vector<std::int64_t>> open;
  for (const Json& event : EventsOf(fixture::RealisticPlan(6, 64), "X")) {
    std::vector<std::int64_t>& ends = open[{event["pid"], event["tid"]}];
    const std::int64_t begin = NanosecondsOf(event["ts"]);
    const std::int64_t end = begin + NanosecondsOf(event["dur"]);
    while (!ends.empty() && ends.back() <= begin) ends.pop_back();
    if (!ends.empty()) {
      EXPECT_LE(end, ends.back()) << event.dump();
    }
    EXPECT_LE(ends.size(), 2U) << event.dump();
    ends.push_back(end);
  }
  EXPECT_EQ(open.size(), 6U);
}

TEST(TraceJson, ShowsThreeBatchesThatOverlap) {
  std::map<std::string, std::pair<double, double>> spans;
  for (const Json& event : EventsOf(fixture::RealisticPlan(6, 64), "X")) {
    if (event["pid"] != 1 || event["cat"] == "operator") continue;
    spans[event["name"].get<std::string>() + "/" + std::to_string(event["tid"].get<int>())] = {
        event["ts"], event["ts"].get<double>() + event["dur"].get<double>()};
  }
  const auto& compute = spans.at("batch 1/3");
  EXPECT_LT(spans.at("store batch 0/2").first, compute.second);
  EXPECT_GE(spans.at("store batch 0/2").first, compute.first);
  EXPECT_LT(spans.at("load batch 2/2").first, compute.second);
  EXPECT_GE(spans.at("load batch 2/1").first, compute.first);
}

TEST(TraceJson, TellsOperatorsAndSteps) {
  std::vector<std::string> names;
  for (const Json& event : EventsOf(fixture::SmallPlan(), "X")) {
    if (event["tid"] == 3) {
      names.push_back(event["cat"].get<std::string>() + " " + event["name"].get<std::string>());
    }
  }
  EXPECT_THAT(names,
              ::testing::ElementsAre("load load batch 0", "batch batch 0", "operator product",
                                     "exchange broadcast", "compute calculate", "copy rearrange",
                                     "operator again", "exchange broadcast", "compute calculate",
                                     "store store batch 0"));
  for (const Json& event : EventsOf(fixture::SmallPlan(), "X")) {
    if (event["name"] != "calculate") continue;
    EXPECT_DOUBLE_EQ(event["dur"], 2.0);  // twice 1,000 cycles at 1 GHz
    EXPECT_EQ(event["args"]["repeats"], 2);
    EXPECT_EQ(event["args"]["vertex"], "poplin::ConvPartial1x1Out<half,half>");
  }
}

TEST(TraceJson, CountsLiveMemory) {
  std::vector<std::uint64_t> bytes;
  for (const Json& event : EventsOf(fixture::SmallPlan(), "C")) {
    if (event["name"] == "live memory") bytes.push_back(event["args"]["bytes"]);
  }
  EXPECT_THAT(bytes, ::testing::ElementsAre(100, 4000, 200, 0));
}

TEST(TraceJson, HasATrackForEachIpu) {
  Plan plan = fixture::SmallPlan();
  plan.graphs[0].operators[2].ipu = 1;
  std::set<int> tracks;
  for (const Json& event : EventsOf(plan, "X")) {
    if (event["cat"] == "operator") tracks.insert(event["tid"].get<int>());
  }
  EXPECT_THAT(tracks, ::testing::ElementsAre(3, 4));
}

TEST(TraceJson, TakesNamesOfAnyBytes) {
  Plan plan = fixture::SmallPlan();
  plan.graphs[0].operators[1].name = "\xFF\"]}\n";
  bool found = false;
  for (const Json& event : EventsOf(plan, "X")) found |= event["name"] == "\xEF\xBF\xBD\"]}\n";
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace poprt::ipu
