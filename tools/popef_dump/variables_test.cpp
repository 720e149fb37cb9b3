#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "runtime/program/executable_payload.hpp"
#include "tools/popef_dump/dump_fixture.hpp"

namespace poprt::dump {
namespace {

using nlohmann::json;
using program::Branch;
using program::Program;
using program::Space;
using ::testing::HasSubstr;

/// graph0: O = X + graph0/w, a variable behind another.
Program ProgramWithVariables() {
  const TensorType two{ElementType::kFloat32, {1, 2}};
  const Branch branch{
      .name = "graph0",
      .slots = {{two, Space::kArena, 0}, {two, Space::kVariables, 64}, {two, Space::kArena, 64}},
      .inputs = {{"graph0/X", 0}},
      .outputs = {{"graph0/O", 2}},
      .steps = {{"add", "Add", {0, 1}, {2}, {}}},
      .arena_bytes = 128};
  return {.branches = {branch},
          .batches_per_step = 1,
          .ipu_version = "ipu2",
          .tiles = 1472,
          .io_tiles = 0,
          .variables = {{"graph0/v", {ElementType::kFloat16, {3}}, 0}, {"graph0/w", two, 64}}};
}

class VariablesTest : public testing::DumpTest {
 protected:
  std::string WriteWithVariables() const {
    testing::Blobs blobs;
    blobs.executable = program::SerializeHead(ProgramWithVariables(), 0);
    return Write("a.popef", blobs);
  }
};

TEST_F(VariablesTest, ShowsThemInATable) {
  EXPECT_EQ(Run({WriteWithVariables()}), 0);
  EXPECT_THAT(out_, HasSubstr(R"(
                0  graph0       1        1      1             0          128
        Variables, 72 bytes:
            Name      Type     Shape   Bytes  Offset
            graph0/v  float16  [3]         6     0x0
            graph0/w  float32  [1, 2]      8    0x40
)"));
}

TEST_F(VariablesTest, ShowsWhatStepsRead) {
  EXPECT_EQ(Run({"--program", WriteWithVariables()}), 0);
  EXPECT_THAT(out_, HasSubstr("%2 = Add(%0, v@0x40 float32[1, 2]) : float32[1, 2] @arena 0x40"));
}

TEST_F(VariablesTest, JsonHasThem) {
  EXPECT_EQ(Run({"--json", "--program", WriteWithVariables()}), 0);
  const json found = json::parse(out_)["files"][0]["executables"][0]["program"];
  EXPECT_EQ(found["variable_bytes"], 72);
  EXPECT_EQ(found["variables"], json::parse(R"([
      {"name": "graph0/v", "type": "float16", "shape": [3], "bytes": 6, "offset": 0},
      {"name": "graph0/w", "type": "float32", "shape": [1, 2], "bytes": 8, "offset": 64}])"));
  EXPECT_EQ(found["branches"][0]["slots"][1]["space"], "variables");
}

}  // namespace
}  // namespace poprt::dump
