#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "runtime/program/executable_payload.hpp"
#include "tools/popef_dump/dump_fixture.hpp"

namespace poprt::dump {
namespace {

using nlohmann::json;
using program::Branch;
using program::kNoSlot;
using program::Program;
using program::Space;
using program::Step;

constexpr std::uint64_t kWeightBytes = 192;

/// A Loop that carries a vector and a count and stacks the vectors; its body chooses with an If.
Program NestedProgram() {
  const TensorType truth{ElementType::kBool, {}};
  const TensorType number{ElementType::kInt64, {}};
  const TensorType vector{ElementType::kFloat32, {2}};
  Branch branch{.name = "graph",
                .slots = {{number, Space::kArena, 0},    // the trip count
                          {vector, Space::kArena, 64},   // x
                          {number, Space::kArena, 128},  // the iteration
                          {truth, Space::kArena, 192},   // whether to go on
                          {vector, Space::kArena, 256},  // carried
                          {vector, Space::kArena, 320},  // and its next value
                          {number, Space::kArena, 384},  // the count
                          {number, Space::kArena, 448},  // and its next value
                          {{ElementType::kFloat32, {3, 2}}, Space::kArena, 512},
                          {vector, Space::kWeights, 0},
                          {number, Space::kWeights, 64},    // zero
                          {number, Space::kWeights, 128}},  // one
                .inputs = {{"n", 0}, {"x", 1}},
                .outputs = {{"y", 5}, {"s", 8, program::StreamExtent{.axis = 0, .slot = 6}}},
                .steps = {},
                .arena_bytes = 576};
  Step choice{.name = "choice", .kernel = "If", .inputs = {3}, .outputs = {5}, .attributes = {}};
  choice.bodies = {{.inputs = {}, .outputs = {5}, .steps = {{"scale", "Mul", {4, 9}, {5}, {}}}},
                   {.inputs = {}, .outputs = {5}, .steps = {{"", "Neg", {4}, {5}, {}}}}};
  Step loop{.name = "loop",
            .kernel = "Loop",
            .inputs = {0, kNoSlot, 1, 10},
            .outputs = {4, 6, 8},
            .attributes = {}};
  loop.bodies = {{.inputs = {2, 3},
                  .outputs = {3, 5, 7, 4},
                  .steps = {choice, {"next", "Add", {6, 11}, {7}, {}}}}};
  branch.steps = {loop, {"last", "Relu", {4}, {5}, {}}};
  return {.branches = {branch},
          .batches_per_step = 1,
          .ipu_version = "ipu2",
          .tiles = 1216,
          .io_tiles = 0};
}

class NestedStepsTest : public testing::DumpTest {
 protected:
  /// In a pipeline the last step of the branch is in a stage of its own.
  std::string WriteNested(bool is_pipeline = false) {
    testing::Blobs blobs;
    Program nested = NestedProgram();
    nested.branches[0].steps[1].stage = is_pipeline ? 1 : 0;
    blobs.executable =
        program::SerializeHead(nested, kWeightBytes) + std::string(kWeightBytes, 'w');
    popef::Anchor stacked;
    stacked.setName("s");
    stacked.setType(popef::TensorType::OUTPUT);
    stacked.setTensorInfo({popef::DataType::F32, {3, 2}});
    stacked.setPrograms({1});
    blobs.metadata.setAnchors({stacked});
    return Write("nested.popef", blobs);
  }
};

TEST_F(NestedStepsTest, StandIndentedBelowTheirStep) {
  ASSERT_EQ(Run({"--program", WriteNested()}), 0) << err_;
  EXPECT_THAT(out_, ::testing::EndsWith(R"(        Branches:
            Index  Name   Inputs  Outputs  Steps  Weight bytes  Arena bytes
                0  graph       2        2      2            24          576
        Branch 0: graph
            %0 = input "n" : int64[] @arena 0x0
            %1 = input "x" : float32[2] @arena 0x40
            %4, %6, %8 = Loop(%0, _, %1, w@0x40 int64[]) : float32[2] @arena 0x100, int64[] @arena 0x180, float32[3, 2] @arena 0x200  # loop
              body(%2, %3):
                %5 = If(%3) : float32[2] @arena 0x140  # choice
                  body():
                    %5 = Mul(%4, w@0x0 float32[2]) : float32[2] @arena 0x140  # scale
                    yield %5
                  body():
                    %5 = Neg(%4) : float32[2] @arena 0x140
                    yield %5
                %7 = Add(%6, w@0x80 int64[]) : int64[] @arena 0x1c0  # next
                yield %3, %5, %7, %4
            %5 = Relu(%4) : float32[2] @arena 0x140  # last
            output "y" = %5
            output "s" = %8, axis 0 up to %6
)"));
}

TEST_F(NestedStepsTest, RunInTheStageOfTheStepAroundThem) {
  const std::string file = WriteNested(/*is_pipeline=*/true);
  ASSERT_EQ(Run({"--program", file}), 0) << err_;
  EXPECT_THAT(out_,
              ::testing::HasSubstr("@arena 0x40\n            stage 0:\n            %4, %6, %8 ="));
  EXPECT_THAT(out_,
              ::testing::HasSubstr("yield %3, %5, %7, %4\n            stage 1:\n            %5 ="));
  ASSERT_EQ(Run({"--json", "--program", file}), 0) << err_;
  const json program = json::parse(out_)["files"][0]["executables"][0]["program"];
  const json& branch = program["branches"][0];
  EXPECT_EQ(branch["num_stages"], 2);
  EXPECT_FALSE(branch["steps"][0].contains("stage"));
  EXPECT_EQ(branch["steps"][1]["stage"], 1);
}

TEST_F(NestedStepsTest, StandInTheBodiesOfTheirJsonStep) {
  ASSERT_EQ(Run({"--json", "--program", WriteNested()}), 0) << err_;
  const json program = json::parse(out_)["files"][0]["executables"][0]["program"];
  const json& branch = program["branches"][0];
  EXPECT_EQ(branch["num_steps"], 2);
  EXPECT_EQ(branch["weight_bytes"], 24);
  EXPECT_EQ(branch["steps"], json::parse(R"([
      {"name": "loop", "kernel": "Loop", "inputs": [0, null, 1, 10], "outputs": [4, 6, 8],
       "attributes": {}, "bodies": [
         {"inputs": [2, 3], "outputs": [3, 5, 7, 4], "steps": [
            {"name": "choice", "kernel": "If", "inputs": [3], "outputs": [5], "attributes": {},
             "bodies": [
               {"inputs": [], "outputs": [5], "steps": [
                  {"name": "scale", "kernel": "Mul", "inputs": [4, 9], "outputs": [5],
                   "attributes": {}}]},
               {"inputs": [], "outputs": [5], "steps": [
                  {"name": "", "kernel": "Neg", "inputs": [4], "outputs": [5],
                   "attributes": {}}]}]},
            {"name": "next", "kernel": "Add", "inputs": [6, 11], "outputs": [7],
             "attributes": {}}]}]},
      {"name": "last", "kernel": "Relu", "inputs": [4], "outputs": [5], "attributes": {}}])"));
}

TEST_F(NestedStepsTest, OpenAxesShowAtAnchorsAndOutputs) {
  const std::string path = WriteNested();
  ASSERT_EQ(Run({path}), 0) << err_;
  EXPECT_THAT(out_, ::testing::HasSubstr("        s     F32   [up to 3, 2]     24  [1]       -\n"));
  ASSERT_EQ(Run({"--json", path}), 0) << err_;
  const json file = json::parse(out_)["files"][0];
  EXPECT_EQ(file["metadata"][0]["anchors"][0]["open_axis"], 0);
  EXPECT_EQ(file["executables"][0]["program"]["branches"][0]["outputs"][1],
            json::parse(R"({"name": "s", "slot": 8, "extent": {"axis": 0, "slot": 6}})"));
}

}  // namespace
}  // namespace poprt::dump
