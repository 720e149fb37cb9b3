#include "compiler/ipu/report/report_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compiler/ipu/report/plan_fixture.hpp"
#include "compiler/ipu/report/summary_report.hpp"

namespace poprt::ipu {
namespace {

using Json = nlohmann::json;

Json Parse(const Plan& plan) { return Json::parse(CompactReportJson(plan)); }

/// The value in `row` of a table's column.
Json Cell(const Json& table, std::size_t row, const std::string& column) {
  for (std::size_t i = 0; i < table["columns"].size(); ++i) {
    if (table["columns"][i] == column) return table["rows"].at(row).at(i);
  }
  return "no such column";
}

std::vector<std::uint64_t> Decode(const Json& runs) {
  std::vector<std::uint64_t> figures;
  for (std::size_t i = 0; i < runs.size(); i += 2) {
    figures.insert(figures.end(), runs[i].get<std::size_t>(), runs[i + 1].get<std::uint64_t>());
  }
  return figures;
}

TEST(ReportJson, SaysWhichSchemaAndForWhat) {
  const Json json = Parse(fixture::RealisticPlan(6, 64));
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["summary"], SummaryReport(fixture::RealisticPlan(6, 64)));
  EXPECT_EQ(json["target"]["ipu_version"], "ipu21");
  EXPECT_EQ(json["target"]["tiles_per_ipu"], 1472);
  EXPECT_EQ(json["target"]["platform"]["clock_hz"], 1'500'000'000);
  EXPECT_EQ(json["options"]["batches_per_step"], 16);
  EXPECT_EQ(json["options"]["partials_type"], "half");
  EXPECT_EQ(json["partition"]["io_tiles"], 64);
  EXPECT_EQ(json["partition"]["compute_tiles"], 1408);
}

TEST(ReportJson, IsTheSameDocumentWithAndWithoutWhiteSpace) {
  const Plan plan = fixture::RealisticPlan(6, 64);
  EXPECT_EQ(Json::parse(ReportJson(plan)), Parse(plan));
  EXPECT_EQ(CompactReportJson(plan).find('\n'), std::string::npos);
  EXPECT_EQ(ReportJson(plan), ReportJson(plan));
}

TEST(ReportJson, BringsBackTheMemoryOfEveryTile) {
  const Plan plan = fixture::RealisticPlan(6, 64);
  const Json memory = Parse(plan)["memory"];
  const Json& tiles = memory["tiles"];
  for (std::size_t c = 0; c < kMemoryCategories; ++c) {
    const std::string name = Cell(memory["categories"], c, "category");
    const std::vector<std::uint64_t> figures = Decode(tiles[name]);
    ASSERT_EQ(figures.size(), plan.memory.tiles.size()) << name;
    std::uint64_t sum = 0;
    for (std::size_t t = 0; t < figures.size(); ++t) {
      ASSERT_EQ(figures[t], plan.memory.tiles[t].bytes[c]) << name << " of tile " << t;
      sum += figures[t];
    }
    EXPECT_EQ(Cell(memory["categories"], c, "bytes"), sum) << name;
  }
  EXPECT_EQ(Decode(tiles["peak_graph"]).at(5), plan.memory.tiles[5].peak_graph);
  EXPECT_EQ(Decode(tiles["gaps"]), std::vector<std::uint64_t>(1472, 2000));
}

TEST(ReportJson, AddsUpMemory) {
  const Json memory = Parse(fixture::SmallPlan())["memory"];
  EXPECT_EQ(memory["bytes"], 7200);
  EXPECT_EQ(memory["gap_bytes"], 24);
  EXPECT_EQ(memory["mean_tile_bytes"], 1800);
  EXPECT_EQ(memory["fullest_tile"], 2);
  EXPECT_EQ(memory["fullest_tile_bytes"], 4800);
  EXPECT_EQ(memory["out_of_memory_tiles"], 1);
}

TEST(ReportJson, BringsBackOperatorsAndSteps) {
  const Plan plan = fixture::SmallPlan();
  const Json json = Parse(plan);
  const Json& graph = json["graphs"][0];
  EXPECT_EQ(graph["name"], "model");
  EXPECT_EQ(graph["device_cycles"], 4500);
  EXPECT_EQ(graph["flops"], 16'000);
  EXPECT_EQ(graph["memory_bytes"], 7200);
  const Json& operators = graph["operators"];
  EXPECT_EQ(Cell(operators, 1, "name"), "product");
  EXPECT_EQ(Cell(operators, 1, "inputs"), Json({0, 1}));
  EXPECT_EQ(Cell(operators, 1, "outlined"), nullptr);
  EXPECT_EQ(Cell(operators, 2, "outlined"), 1);
  EXPECT_EQ(Cell(operators, 1, "live_bytes"), 4000);
  EXPECT_EQ(Cell(operators, 2, "live_fullest_tile_bytes"), 60);

  const Json& expansion = json["expansions"].at(Cell(operators, 1, "expansion").get<std::size_t>());
  EXPECT_EQ(expansion["op"], "MatMul");
  EXPECT_EQ(expansion["grid"], "2 x 2");
  EXPECT_EQ(expansion["cycles"], 2400);
  EXPECT_EQ(Cell(expansion["steps"], 1, "phase"), "compute");
  EXPECT_EQ(Cell(expansion["steps"], 1, "name"), "calculate");
  EXPECT_EQ(Cell(expansion["steps"], 1, "repeats"), 2);
  EXPECT_EQ(Cell(expansion["steps"], 1, "vertex_state_bytes"), 40);
  EXPECT_EQ(Cell(expansion["steps"], 2, "bytes"), 500);
}

TEST(ReportJson, BringsBackTensors) {
  const Plan plan = fixture::RealisticPlan(6, 64);
  const Json json = Parse(plan);
  const std::vector<TensorPlan>& tensors = plan.graphs[1].tensors;
  const Json& table = json["graphs"][1]["tensors"];
  ASSERT_EQ(table["rows"].size(), tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto layout = Cell(table, i, "layout").get<std::size_t>();
    EXPECT_EQ(Cell(table, i, "name"), tensors[i].name);
    EXPECT_EQ(Cell(table, i, "last_operator"), tensors[i].last);
    EXPECT_EQ(Cell(json["layouts"], layout, "bytes"), tensors[i].bytes);
    EXPECT_EQ(Cell(json["layouts"], layout, "first_tile"), tensors[i].mapping.tiles.first);
    EXPECT_EQ(Cell(json["layouts"], layout, "element_type"), "float32");
  }
}

TEST(ReportJson, SaysWhichTensorsShareMemory) {
  const Json tensors = Parse(fixture::SmallPlan())["graphs"][0]["tensors"];
  EXPECT_EQ(Cell(tensors, 1, "shared"), 7);
  EXPECT_EQ(Cell(tensors, 1, "storage"), nullptr);
  EXPECT_EQ(Cell(tensors, 3, "shared"), nullptr);
  EXPECT_EQ(Cell(tensors, 3, "storage"), 2);
}

TEST(ReportJson, BringsBackPerformanceAndPhases) {
  const Plan plan = fixture::RealisticPlan(6, 64);
  const Json graph = Parse(plan)["graphs"][0];
  const Json& performance = graph["performance"];
  EXPECT_EQ(performance["compute_cycles"], plan.performance[0].compute_cycles);
  EXPECT_EQ(performance["serial_seconds"], plan.performance[0].serial_seconds);
  EXPECT_EQ(performance["overlap_seconds"], plan.performance[0].overlap_seconds);
  EXPECT_EQ(performance["latency_seconds"], plan.performance[0].latency_seconds);
  EXPECT_EQ(performance["throughput"], plan.performance[0].throughput);
  std::uint64_t cycles = 0;
  for (std::size_t p = 0; p < graph["phases"]["rows"].size(); ++p) {
    const std::string phase = Cell(graph["phases"], p, "phase");
    if (phase.rfind("host", 0) != 0)
      cycles += Cell(graph["phases"], p, "cycles").get<std::uint64_t>();
  }
  EXPECT_EQ(cycles, plan.graphs[0].cycles());
}

TEST(ReportJson, KeepsWhatLayersHaveInCommonOnce) {
  const Json few = Parse(fixture::RealisticPlan(2, 64));
  const Json many = Parse(fixture::RealisticPlan(48, 64));
  EXPECT_EQ(few["expansions"].size(), many["expansions"].size());
  // As many operators as in BERT-large: what travels in a container stays small.
  Plan one_graph = fixture::RealisticPlan(72, 64);
  one_graph.graphs.pop_back();
  EXPECT_LT(CompactReportJson(one_graph).size(), 250'000U);
}

TEST(ReportJson, WritesRowsOnLines) {
  const std::string text = ReportJson(fixture::SmallPlan());
  EXPECT_THAT(text, ::testing::HasSubstr("  \"partition\": {\n    \"io_tiles\": 0,\n"));
  EXPECT_THAT(text,
              ::testing::HasSubstr("          [\"product\",1,[0,1],[2],null,0,0,4000,4000],\n"));
}

TEST(ReportJson, TakesNamesOfAnyBytes) {
  Plan plan = fixture::SmallPlan();
  plan.graphs[0].name = "\xFF\"\\\n\x01";
  plan.graphs[0].operators[1].name = "\xC3";
  const Json json = Parse(plan);
  EXPECT_EQ(json["graphs"][0]["name"], "\xEF\xBF\xBD\"\\\n\x01");
}

TEST(ReportJson, TakesAPlanWithNothingInIt) {
  const Json json = Parse(Plan{});
  EXPECT_EQ(json["graphs"], Json::array());
  EXPECT_EQ(json["memory"]["tiles"]["stack"], Json::array());
}

}  // namespace
}  // namespace poprt::ipu
