#include "runtime/program/program.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <utility>

namespace poprt::program {
namespace {

/// y = Relu(x), x and y next to each other in an arena of 128 bytes.
Program SmallProgram() {
  const TensorType type{ElementType::kFloat32, {16}};
  Branch branch{.name = "graph0",
                .slots = {{type, Space::kArena, 0}, {type, Space::kArena, 64}},
                .inputs = {{"x", 0}},
                .outputs = {{"y", 1}},
                .steps = {{"relu", "Relu", {0}, {1}, {}}},
                .arena_bytes = 128};
  return {.branches = {branch},
          .batches_per_step = 1,
          .ipu_version = "ipu2",
          .tiles = 1472,
          .io_tiles = 0};
}

TEST(ProgramTest, AcceptsAValidProgram) { EXPECT_EQ(FindProblem(SmallProgram(), 0), ""); }

TEST(ProgramTest, RefusesSlotsOutsideTheirSpace) {
  Program program = SmallProgram();
  program.branches[0].arena_bytes = 127;
  EXPECT_EQ(FindProblem(program, 0),
            "branch 'graph0': slot 1 spans 64 bytes from offset 64, beyond the 127 bytes of the "
            "arena");
  program = SmallProgram();
  program.branches[0].slots[1].offset = std::numeric_limits<std::uint64_t>::max() - 63;
  EXPECT_EQ(FindProblem(program, 0),
            "branch 'graph0': slot 1 spans 64 bytes from offset 18446744073709551552, beyond the "
            "128 bytes of the arena");
  program = SmallProgram();
  program.branches[0].slots[0].type.shape = {std::numeric_limits<std::int64_t>::max() / 2};
  EXPECT_EQ(FindProblem(program, 0), "branch 'graph0': slot 0 has no valid type");
}

TEST(ProgramTest, RefusesWritesToWeightsAndToOtherOperands) {
  Program program = SmallProgram();
  program.branches[0].slots[1].space = Space::kWeights;
  program.branches[0].slots[1].offset = 0;
  EXPECT_EQ(FindProblem(program, 64), "branch 'graph0': step 'relu' writes to the weights");
}

TEST(ProgramTest, StagesAscendWithoutGaps) {
  const auto problem = [](const std::vector<std::uint32_t>& stages) {
    Program program = SmallProgram();
    Branch& branch = program.branches[0];
    branch.steps.resize(stages.size(), branch.steps[0]);
    for (std::size_t i = 0; i < stages.size(); ++i) branch.steps[i].stage = stages[i];
    return FindProblem(program, 0);
  };
  EXPECT_EQ(problem({0, 0, 1, 2, 2}), "");
  EXPECT_EQ(problem({1, 1}),
            "branch 'graph0': step 'relu' is in stage 1, the first step is in stage 0");
  EXPECT_EQ(problem({0, 1, 0}),
            "branch 'graph0': step 'relu' is in stage 0, behind one in stage 1");
  EXPECT_EQ(problem({0, 2}), "branch 'graph0': step 'relu' is in stage 2, behind one in stage 0");
  std::vector<std::uint32_t> many(kMostStages + 1);
  for (std::uint32_t i = 0; i < many.size(); ++i) many[i] = i;
  EXPECT_EQ(problem(many), "branch 'graph0': there are 65 stages, allowed are 64");
  many.pop_back();
  EXPECT_EQ(problem(many), "");
}

TEST(ProgramTest, StepsInsideStepsHaveNoStageOfTheirOwn) {
  Program program = SmallProgram();
  Branch& branch = program.branches[0];
  branch.slots.push_back({{ElementType::kBool, {}}, Space::kArena, 128});
  branch.arena_bytes = 192;
  branch.inputs.push_back({"condition", 2});
  Step choice{"if", "If", {2}, {1}, {}};
  choice.bodies = {{.inputs = {}, .outputs = {1}, .steps = branch.steps},
                   {.inputs = {}, .outputs = {1}, .steps = {}}};
  branch.steps = {branch.steps[0], choice};
  branch.steps[1].stage = 1;
  EXPECT_EQ(FindProblem(program, 0), "");
  branch.steps[1].bodies[0].steps[0].stage = 1;
  EXPECT_EQ(FindProblem(program, 0),
            "branch 'graph0': step 'relu' inside another has a stage of its own");
}

TEST(ProgramTest, StagesOfTheProgramAreThoseOfTheBranchThatHasMost) {
  Program program = SmallProgram();
  EXPECT_EQ(program.NumStages(), 1U);
  program.branches.push_back(program.branches[0]);
  program.branches[1].steps.push_back(program.branches[1].steps[0]);
  program.branches[1].steps[1].stage = 1;
  EXPECT_EQ(program.branches[0].NumStages(), 1U);
  EXPECT_EQ(program.NumStages(), 2U);
  program.branches[0].steps.clear();
  EXPECT_EQ(program.branches[0].NumStages(), 1U);
}

TEST(ProgramTest, NoMachineHasAnArenaWithoutEnd) {
  Program program = SmallProgram();
  program.branches[0].arena_bytes = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(FindProblem(program, 0),
            "branch 'graph0': an arena of 18446744073709551615 bytes is none that a machine has");
}

TEST(ProgramTest, TheFirstOutputMayBeTheVeryBytesOfAnInput) {
  constexpr const char* refused =
      "branch 'graph0': step 'relu' writes to memory of another of its operands";
  Program program = SmallProgram();
  Branch& branch = program.branches[0];
  branch.slots[1].offset = 0;
  EXPECT_EQ(FindProblem(program, 0), "");
  branch.slots[1].type.shape.back() *= 2;  // more than the input
  EXPECT_EQ(FindProblem(program, 0), refused);
  branch.slots[0].type.shape.back() *= 4;  // a part of the input
  branch.arena_bytes = 1024;
  EXPECT_EQ(FindProblem(program, 0), refused);
}

TEST(ProgramTest, TheSecondOutputMayNot) {
  Program program = SmallProgram();
  Branch& branch = program.branches[0];
  branch.slots.push_back(branch.slots[1]);
  branch.slots[1].offset = 0;
  branch.steps[0].outputs = {2, 1};
  EXPECT_EQ(FindProblem(program, 0),
            "branch 'graph0': step 'relu' writes to memory of another of its operands");
}

TEST(ProgramTest, RefusesUnknownSlotsAndNames) {
  Program program = SmallProgram();
  program.branches[0].steps[0].inputs = {7};
  EXPECT_EQ(FindProblem(program, 0), "branch 'graph0': step 'relu' uses slot 7 of 2");
  program = SmallProgram();
  program.branches[0].outputs[0].name = "x";
  EXPECT_EQ(FindProblem(program, 0), "branch 'graph0': stream name 'x' is empty or taken");
  program = SmallProgram();
  program.branches.push_back(program.branches[0]);
  EXPECT_EQ(FindProblem(program, 0), "branch 'graph0': the name occurs twice");
}

TEST(ProgramTest, RefusesExtentsThatDoNotExist) {
  const auto problem = [](const StreamExtent& extent, const TensorType& type) {
    Program program = SmallProgram();
    program.branches[0].slots.push_back({type, Space::kArena, 0});
    program.branches[0].outputs[0].extent = extent;
    return FindProblem(program, 0);
  };
  EXPECT_EQ(problem({.axis = 0, .slot = 2}, {ElementType::kInt64, {}}), "");
  EXPECT_EQ(problem({.axis = 0, .slot = 2}, {ElementType::kInt32, {}}), "");
  EXPECT_EQ(problem({.axis = 1, .slot = 2}, {ElementType::kInt64, {}}),
            "branch 'graph0': the extent of stream 'y' is of axis 1 of a tensor of rank 1");
  EXPECT_EQ(problem({.axis = 0, .slot = 3}, {ElementType::kInt64, {}}),
            "branch 'graph0': the extent of stream 'y' uses slot 3 of 3");
  EXPECT_EQ(problem({.axis = 0, .slot = 2}, {ElementType::kInt64, {1}}),
            "branch 'graph0': the extent of stream 'y' is int64[1], not a scalar of int32 or "
            "int64");
  EXPECT_EQ(problem({.axis = 0, .slot = 2}, {ElementType::kFloat32, {}}),
            "branch 'graph0': the extent of stream 'y' is float32[], not a scalar of int32 or "
            "int64");
  Program program = SmallProgram();
  program.branches[0].slots.push_back({{ElementType::kInt64, {}}, Space::kArena, 0});
  program.branches[0].inputs[0].extent = {.axis = 0, .slot = 2};
  EXPECT_EQ(FindProblem(program, 0),
            "branch 'graph0': input 'x' has an extent that depends on data");
}

TEST(ProgramTest, RefusesStepsWithTooManyOperands) {
  Program program = SmallProgram();
  program.branches[0].steps[0].inputs.assign(5000, 0);
  EXPECT_EQ(FindProblem(program, 0),
            "branch 'graph0': step 'relu' has 5001 operands, allowed are 4096");
}

/// y = x + w, w a variable behind another.
Program ProgramWithVariables() {
  Program program = SmallProgram();
  const TensorType type{ElementType::kFloat32, {16}};
  program.variables = {{"first", {ElementType::kFloat16, {3}}, 0}, {"w", type, 64}};
  Branch& branch = program.branches[0];
  branch.slots.push_back({type, Space::kVariables, 64});
  branch.steps = {{"add", "Add", {0, 2}, {1}, {}}};
  return program;
}

TEST(ProgramTest, AcceptsVariables) {
  Program program = ProgramWithVariables();
  EXPECT_EQ(FindProblem(program, 0), "");
  EXPECT_EQ(program.VariableBytes(), 128U);
  EXPECT_EQ(SmallProgram().VariableBytes(), 0U);
  program.branches[0].slots[2].type = {ElementType::kFloat32, {4, 2, 2}};
  EXPECT_EQ(FindProblem(program, 0), "");  // a view
}

TEST(ProgramTest, RefusesVariablesThatDoNotExist) {
  const auto problem = [](auto change) {
    Program program = ProgramWithVariables();
    change(program.variables);
    return FindProblem(program, 0);
  };
  EXPECT_EQ(problem([](auto& variables) { variables[1].name = "first"; }),
            "variable 1 'first': the name is empty or taken");
  EXPECT_EQ(problem([](auto& variables) { variables[0].name = ""; }),
            "variable 0 '': the name is empty or taken");
  EXPECT_EQ(problem([](auto& variables) { variables[1].type.shape = {-1}; }),
            "variable 1 'w' has no valid type");
  EXPECT_EQ(problem([](auto& variables) { variables[1].offset = 65; }),
            "variable 1 'w' is at offset 65, not a multiple of 64");
  EXPECT_EQ(problem([](auto& variables) { variables[0].type.shape = {33}; }),
            "variable 1 'w' is at offset 64, before the end of the variable before it at 66");
  EXPECT_EQ(problem([](auto& variables) { std::swap(variables[0], variables[1]); }),
            "variable 1 'first' is at offset 0, before the end of the variable before it at 128");
  EXPECT_EQ(problem([](auto& variables) {
              variables[1].offset = std::numeric_limits<std::uint64_t>::max() - 63;
            }),
            "variable 1 'w' ends beyond any memory");
  EXPECT_EQ(problem([](auto& variables) { variables.pop_back(); }),
            "branch 'graph0': slot 2 spans 64 bytes from offset 64, not in one variable");
  EXPECT_EQ(problem([](auto& variables) { variables[1].type.shape = {15}; }),
            "branch 'graph0': slot 2 spans 64 bytes from offset 64, not in one variable");
  EXPECT_EQ(problem([](auto& variables) { variables.clear(); }),
            "branch 'graph0': slot 2 spans 64 bytes from offset 64, not in one variable");
}

TEST(ProgramTest, RefusesWritesToVariables) {
  Program program = ProgramWithVariables();
  program.branches[0].steps[0].inputs = {0, 1};
  program.branches[0].steps[0].outputs = {2};
  EXPECT_EQ(FindProblem(program, 0), "branch 'graph0': step 'add' writes to the variables");
  program = ProgramWithVariables();
  program.branches[0].inputs[0].slot = 2;
  EXPECT_EQ(FindProblem(program, 0),
            "branch 'graph0': input 'x' would be written to the variables");
  program = ProgramWithVariables();
  program.branches[0].outputs[0].slot = 2;
  EXPECT_EQ(FindProblem(program, 0), "");  // an output may be read from them
}

TEST(ProgramTest, ArenaServesTheLargestBranch) {
  Program program = SmallProgram();
  program.branches.push_back(program.branches[0]);
  program.branches[1].arena_bytes = 4096;
  EXPECT_EQ(program.ArenaBytes(), 4096U);
}

}  // namespace
}  // namespace poprt::program
