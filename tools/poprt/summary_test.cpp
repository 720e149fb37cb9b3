#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tools/poprt/json_summary.hpp"
#include "tools/poprt/text_summary.hpp"
#include "tools/poprt/text_table.hpp"

namespace poprt::cli {
namespace {

Outcome FusedOutcome() {
  Outcome outcome;
  outcome.fused = true;
  outcome.convert_version = 17;
  outcome.constant_bytes_before = 3072;
  outcome.constant_bytes_after = 1024;
  outcome.models.push_back({.name = "graph0",
                            .path = "a.onnx",
                            .opset = 13,
                            .nodes_imported = 12,
                            .nodes = 10,
                            .parameters = 256,
                            .parameter_bytes = 1024,
                            .import_seconds = 0.5,
                            .convert_seconds = 0.25,
                            .frozen_inputs = {{"ids", "int64[3]"}},
                            .passes = {{"sort_graph", 0.125, true, 10}}});
  outcome.models.push_back({.name = "second", .path = "b.onnx", .nodes = 2, .passes = {}});
  driver::CompileReport report;
  report.graphs = {{"graph0", 9, 1024, 512, 0, 0}, {"second", 1, 0, 100, 0, 100}};
  report.weight_bytes = 1024;
  report.weight_bytes_shared = 0;
  report.arena_bytes = 512;
  report.arena_bytes_shared = 100;
  report.lower_seconds = 1;
  report.container_bytes = 5000;
  outcome.compiled = report;
  outcome.runs = {{"graph0", 4, 100, 2.0, 2000}};
  outcome.fuse_seconds = 0.000125;
  outcome.total_seconds = 2;
  outcome.warnings = {"clipped"};
  outcome.files = {{"onnx", "o/m.onnx", 2048}, {"popef", "o/executable.popef", 5000}};
  return outcome;
}

TEST(TextSummary, NamesVariables) {
  Outcome outcome = FusedOutcome();
  outcome.compiled->variable_bytes = 2048;
  EXPECT_THAT(TextSummary(outcome),
              testing::HasSubstr("container: weights 1.0 KiB, variables 2.0 KiB, arena 512 B\n"));
  EXPECT_EQ(nlohmann::json::parse(JsonSummary(outcome))["compile"]["variable_bytes"], 2048);
}

TEST(TextSummary, AlignsATableAndNamesSavingsTimesAndFiles) {
  EXPECT_EQ(TextSummary(FusedOutcome()),
            "graph   model   nodes  parameters  constants  steps  weights  arena\n"
            "graph0  a.onnx     10         256    1.0 KiB      9  1.0 KiB  512 B\n"
            "second  b.onnx      2           0        0 B      1      0 B  100 B\n"
            "frozen: input 'graph0/ids', int64[3]\n"
            "shared by graphs: constants 2.0 KiB saved, weights 0 B saved, arena 100 B saved\n"
            "container: weights 1.0 KiB, arena 512 B\n"
            "time: import 500.0 ms, convert 250.0 ms, fuse 0.125 ms, ONNX 0.000 ms, "
            "IPU plan 0.000 ms, lower 1.000 s, plan 0.000 ms, write 0.000 ms, total 2.000 s\n"
            "wrote o/m.onnx (2.0 KiB, opset 17)\n"
            "wrote o/executable.popef (4.9 KiB)\n"
            "graph0\nBs: 4\nLatency: 2.00ms\nTput: 2000\n");
}

TEST(TextSummary, PredictsForTheIpu) {
  Outcome outcome = FusedOutcome();
  ipu::Plan plan;
  plan.target.ipu_version = "ipu21";
  plan.target.sram_bytes_per_tile = 638976;
  plan.platform.name = "c600";
  plan.partition = {.io_tiles = 32, .compute_tiles = 1440};
  plan.graphs = {{.name = "graph0", .samples = 8, .input_bytes = 64, .output_bytes = 16}};
  plan.performance = {{.compute_cycles = 1500,
                       .serial_seconds = 0.002,
                       .overlap_seconds = 0.001,
                       .latency_seconds = 0.003,
                       .throughput = 8000}};
  plan.memory.tiles.resize(1);
  plan.memory.tiles[0].bytes[0] = 2048;
  outcome.ipu = plan;
  EXPECT_THAT(TextSummary(outcome),
              testing::HasSubstr("on the IPU  cycles     batch   latency  samples/s\n"
                                 "graph0        1500  1.000 ms  3.000 ms       8000\n"
                                 "predicted for ipu21 on c600: 32 I/O and 1440 compute tiles, "
                                 "fullest tile 2.0 KiB of 624.0 KiB\n"));
  const auto json = nlohmann::json::parse(JsonSummary(outcome))["ipu"];
  EXPECT_EQ(json["platform"], "c600");
  EXPECT_EQ(json["io_tiles"], 32);
  EXPECT_EQ(json["fullest_tile_bytes"], 2048);
  EXPECT_EQ(json["graphs"][0]["cycles"], 1500);
  EXPECT_EQ(json["graphs"][0]["batch_seconds_without_overlap"], 0.002);
  EXPECT_EQ(json["graphs"][0]["throughput"], 8000);
}

TEST(TextSummary, OfOneConvertedModelHasNothingOfFusionOrCompilation) {
  Outcome outcome;
  outcome.convert_version = 11;
  outcome.models.push_back({.name = "a.onnx", .path = "a.onnx", .nodes = 10, .passes = {}});
  outcome.files = {{"onnx", "m.onnx", 2048}};
  EXPECT_EQ(TextSummary(outcome),
            "model   nodes  parameters  constants\n"
            "a.onnx     10           0        0 B\n"
            "time: import 0.000 ms, convert 0.000 ms, ONNX 0.000 ms, total 0.000 ms\n"
            "wrote m.onnx (2.0 KiB, opset 11)\n");
}

TEST(JsonSummary, HoldsEveryNumber) {
  const auto json = nlohmann::json::parse(JsonSummary(FusedOutcome()));
  EXPECT_EQ(json["status"], "ok");
  EXPECT_EQ(json["models"][0]["nodes_imported"], 12);
  EXPECT_EQ(json["models"][0]["frozen_inputs"][0]["name"], "ids");
  EXPECT_EQ(json["models"][0]["frozen_inputs"][0]["type"], "int64[3]");
  EXPECT_EQ(json["models"][1]["frozen_inputs"].size(), 0U);
  EXPECT_EQ(json["models"][0]["seconds"]["import"], 0.5);
  EXPECT_EQ(json["models"][0]["passes"][0]["name"], "sort_graph");
  EXPECT_EQ(json["models"][1]["name"], "second");
  EXPECT_EQ(json["fusion"]["constant_bytes_saved"], 2048);
  EXPECT_EQ(json["compile"]["graphs"][1]["arena_bytes"], 100);
  EXPECT_EQ(json["compile"]["arena_bytes_saved"], 100);
  EXPECT_EQ(json["compile"]["graphs"][1]["arena_bytes_saved"], 100);
  EXPECT_EQ(json["compile"]["graphs"][0]["weight_bytes_saved"], 0);
  EXPECT_EQ(json["seconds"]["fuse"], 0.000125);
  EXPECT_EQ(json["seconds"]["write"], 0);
  EXPECT_EQ(json["total_seconds"], 2);
  EXPECT_EQ(json["warnings"][0], "clipped");
  EXPECT_EQ(json["compile"]["seconds"]["lower"], 1.0);
  EXPECT_EQ(json["run"][0]["latency_ms"], 2.0);
  EXPECT_EQ(json["files"][1]["path"], "o/executable.popef");
}

tuner::TuningReport Tuned() {
  return {.machine = {"A processor", 2},
          .choices = {{.what = "3x3 convolution, 64 to 64 channels, 56x56",
                       .uses = 3,
                       .measured = true,
                       .expected = "Winograd F(4x4)",
                       .chosen = "Winograd F(2x2)",
                       .expected_us = 1000,
                       .chosen_us = 750},
                      {.what = "graph 'g'",
                       .expected = "with block_channels",
                       .chosen = "with block_channels",
                       .expected_us = 62.5,
                       .chosen_us = 62.5}}};
}

TEST(TextSummary, ShowsWhatTheTunerGained) {
  Outcome outcome = FusedOutcome();
  outcome.tuning = Tuned();
  EXPECT_THAT(
      TextSummary(outcome),
      testing::HasSubstr("perf_tuner: A processor, 2 threads\n"
                         "choice                                     from      cost table          "
                         " chosen               uses    us  chosen us   saved  gain us\n"
                         "3x3 convolution, 64 to 64 channels, 56x56  measured  Winograd F(4x4)     "
                         " Winograd F(2x2)         3  1000        750  25.0 %      750\n"
                         "graph 'g'                                  cache     with block_channels "
                         " with block_channels     1  62.5       62.5   0.0 %      0.0\n"
                         "all                                                                      "
                         "                                                         750\n"
                         "time: import"));
  outcome.tuning->choices.clear();
  EXPECT_THAT(TextSummary(outcome), testing::HasSubstr("perf_tuner: A processor, 2 threads\n"
                                                       "  there was nothing to choose\n"));
}

TEST(JsonSummary, HoldsWhatTheTunerDecided) {
  Outcome outcome = FusedOutcome();
  EXPECT_FALSE(nlohmann::json::parse(JsonSummary(outcome)).contains("perf_tuner"));
  outcome.tuning = Tuned();
  const auto json = nlohmann::json::parse(JsonSummary(outcome))["perf_tuner"];
  EXPECT_EQ(json["processor"], "A processor");
  EXPECT_EQ(json["threads"], 2);
  EXPECT_EQ(json["choices"][0]["uses"], 3);
  EXPECT_EQ(json["choices"][0]["measured"], true);
  EXPECT_EQ(json["choices"][0]["cost_table"], "Winograd F(4x4)");
  EXPECT_EQ(json["choices"][0]["chosen"], "Winograd F(2x2)");
  EXPECT_EQ(json["choices"][0]["gain_us"], 750);
  EXPECT_EQ(json["choices"][1]["measured"], false);
  EXPECT_EQ(json["gain_us"], 750);
}

TEST(JsonSummary, ErrorsAndInterfaces) {
  EXPECT_EQ(nlohmann::json::parse(JsonErrors(1, {"a", "b\xff"}))["errors"].size(), 2U);
  const auto json = nlohmann::json::parse(
      JsonInterfaces({"a"}, {"a.onnx"}, {{{{"X", "float32", {"N", 2}, true}}, {}, {}}}));
  EXPECT_EQ(json["status"], "ok");
  EXPECT_EQ(json["models"][0]["name"], "a");
  EXPECT_EQ(json["models"][0]["inputs"][0]["shape"][0], "N");
  EXPECT_EQ(json["models"][0]["inputs"][0]["shape"][1], 2);
  EXPECT_EQ(json["models"][0]["outputs"].size(), 0U);
}

TEST(ModelInterface, FrozenInputsNameTheirFiles) {
  ModelInterface model{.inputs = {{"X", "float32", {"N", 2}}, {"P", "int64", {4}}},
                       .outputs = {{"P", "float32", {}, false}},
                       .external_files = {}};
  MarkFrozen({{"P", frontend::FrozenFile{"a/p.npy"}}, {"Q", frontend::FrozenFile{"q.pb"}}}, model);
  EXPECT_EQ(ToText(model),
            "Input X: dtype - float32, shape - [N, 2]\n"
            "Input P: dtype - int64, shape - [4], frozen - a/p.npy\n"
            "Output P: dtype - float32, shape - unknown\n");
  const auto json = nlohmann::json::parse(JsonInterfaces({"a"}, {"a.onnx"}, {model}));
  EXPECT_FALSE(json["models"][0]["inputs"][0].contains("frozen"));
  EXPECT_EQ(json["models"][0]["inputs"][1]["frozen"], "a/p.npy");
}

TEST(TextSummary, OneFusedGraphSharesNothingAndLatenciesHaveThreeDigits) {
  Outcome outcome = FusedOutcome();
  outcome.models.pop_back();
  outcome.runs[0].latency_ms = 0.0035;
  EXPECT_EQ(TextSummary(outcome).find("shared by graphs"), std::string::npos);
  EXPECT_NE(TextSummary(outcome).find("Latency: 0.00350ms\n"), std::string::npos);
}

TEST(TextTable, Units) {
  EXPECT_EQ(SecondsText(1.5), "1.500 s");
  EXPECT_EQ(SecondsText(0.0123), "12.3 ms");
  EXPECT_EQ(SecondsText(0.0000123), "0.012 ms");
  EXPECT_EQ(BytesText(0), "0 B");
  EXPECT_EQ(BytesText(1023), "1023 B");
  EXPECT_EQ(BytesText(1536), "1.5 KiB");
  EXPECT_EQ(BytesText(102236160), "97.5 MiB");
}

}  // namespace
}  // namespace poprt::cli
