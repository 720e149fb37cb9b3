#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tools/popef_dump/dump_fixture.hpp"

namespace poprt::dump {
namespace {

using nlohmann::json;
using JsonDumpTest = testing::DumpTest;

TEST_F(JsonDumpTest, WritesOneJsonDocument) {
  const std::string a = Write("a.popef");
  const std::string b = Write("b.popef");
  EXPECT_EQ(Run({"--json", "--all", "--verify", a, b}), 0);
  const json document = json::parse(out_);
  EXPECT_EQ(document["status"], "ok");
  ASSERT_EQ(document["files"].size(), 2U);
  EXPECT_EQ(document["files"][1]["file"], b);
  json file = document["files"][0];
  EXPECT_EQ(file["file"], a);
  EXPECT_EQ(file["verified"], true);
  EXPECT_EQ(file["errors"], json::array());
  EXPECT_EQ(file["metadata"][0]["ipu_version"], 21);
  EXPECT_EQ(file["metadata"][0]["programs"][1], json::parse(R"({"index": 1, "name": "main"})"));
  EXPECT_EQ(file["metadata"][0]["engine_options"],
            json::parse(R"([{"name": "poprt.packageHash", "value": "p"}])"));
  EXPECT_EQ(file["metadata"][0]["anchors"][3], json::parse(R"({
      "name": "graph1/A", "direction": "INPUT", "type": "F16", "shape": [64], "bytes": 128,
      "programs": [1], "handle": "h_graph1/A", "per_replica": false, "remote_buffers": false,
      "repeats": 0})"));
  EXPECT_EQ(file["opaques"], json::parse(R"([
      {"name": "poprt.fusion", "executable": "exe", "bytes": 205, "graphs": [
        {"index": 0, "name": "graph0", "inputs": ["graph0/X"], "outputs": ["graph0/O"]},
        {"index": 1, "name": "graph1", "inputs": ["graph1/A"],
         "outputs": ["graph1/P", "graph1/Q"]}]},
      {"name": "note", "executable": "exe", "bytes": 5}])"));
  json program = file["executables"][0]["program"];
  EXPECT_EQ(program["io_tiles"], 32);
  EXPECT_EQ(program["compute_tiles"], 1440);
  EXPECT_EQ(program["arena_bytes"], 448);
  EXPECT_EQ(program["branches"][1]["weight_bytes"], 128);
  EXPECT_EQ(program["branches"][0]["inputs"], json::parse(R"([{"name": "graph0/X", "slot": 0}])"));
  EXPECT_EQ(program["branches"][0]["steps"], json::parse(R"([{"name": "fc", "kernel": "gemm",
      "inputs": [0, 1, null], "outputs": [2],
      "attributes": {"activation": "a\"b", "alpha": 1.0, "pads": [0, -1], "scales": [0.5, 2.0]}}])"));
  EXPECT_EQ(program["branches"][0]["slots"][1], json::parse(R"({"type": "float32",
      "shape": [16, 2], "space": "weights", "offset": 0})"));
  ASSERT_EQ(file["blobs"].size(), 4U);
  EXPECT_EQ(file["blobs"][1]["kind"], "POPLAR_EXECUTABLE");
  EXPECT_EQ(file["blobs"][1]["payload_offset"], 4096);
  EXPECT_EQ(file["blobs"][1]["payload_size"], 4288);
  EXPECT_EQ(file["blobs"][1]["alignment"], 4096);
}

TEST_F(JsonDumpTest, JsonHasWhatTheOptionsSelect) {
  const std::string path = Write("a.popef");
  EXPECT_EQ(Run({"--json", path}), 0);
  json file = json::parse(out_)["files"][0];
  EXPECT_FALSE(file.contains("blobs"));
  EXPECT_FALSE(file.contains("verified"));
  EXPECT_FALSE(file["executables"][0]["program"]["branches"][0].contains("steps"));
  EXPECT_EQ(Run({"--json", "-m", path}), 0);
  file = json::parse(out_)["files"][0];
  EXPECT_TRUE(file.contains("metadata"));
  EXPECT_FALSE(file.contains("executables"));
}

}  // namespace
}  // namespace poprt::dump
