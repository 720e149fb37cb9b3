#include "compiler/ipu/memory/program_bytes.hpp"

#include <gtest/gtest.h>

#include "compiler/ipu/memory/graph_plan_for_test.hpp"

namespace poprt::ipu {
namespace {

using Bytes = std::vector<std::uint64_t>;

constexpr TileSpace kFourTiles{.tiles_per_ipu = 4};

/// What is there beyond a program without graphs.
Bytes Beyond(const Bytes& bytes, std::uint64_t fixed) {
  Bytes result;
  for (const std::uint64_t b : bytes) result.push_back(b - fixed);
  return result;
}

Superstep Compute(std::string vertex, TileRange tiles) {
  return {.phase = Phase::kCompute,
          .name = "s",
          .vertex = std::move(vertex),
          .tiles = tiles,
          .vertex_state_bytes = 10,
          .control_code_bytes = 17};
}

TEST(ProgramBytesTest, TheSmallestProgramHasTheFixedBytes) {
  const ProgramBytes program = FindProgramBytes({}, kFourTiles);
  EXPECT_EQ(program.constants, (Bytes{0, 0, 0, 0}));
  EXPECT_EQ(program.control_code, (Bytes{700, 700, 700, 700}));
  // Section 3.5: about 4.4 KB with the stack.
  EXPECT_EQ(program.vertex_code[0] + program.internal_exchange_code[0] +
                program.host_exchange_code[0] + program.control_code[0] + kStackBytes,
            4356U);
}

TEST(ProgramBytesTest, EqualWeightsOfAllGraphsAreThereOnce) {
  GraphPlan a{.name = "a",
              .tensors = {TensorOn("w", {.first = 0, .count = 2}, 100, TensorKind::kConstant),
                          TensorOn("v", {.first = 1, .count = 2}, 10, TensorKind::kVariable)}};
  a.tensors[0].shared = 7;
  GraphPlan b = a;
  b.tensors[0].mapping.tiles.first = 2;  // laid out for its own product
  const ProgramBytes program = FindProgramBytes({&a, &b}, kFourTiles);
  EXPECT_EQ(program.constants, (Bytes{100, 100, 0, 0}));
  EXPECT_EQ(program.variables, (Bytes{0, 20, 20, 0}));
  b.tensors[0].shared = 8;
  EXPECT_EQ(FindProgramBytes({&a, &b}, kFourTiles).constants, (Bytes{100, 100, 100, 100}));
}

TEST(ProgramBytesTest, EveryIpuThatReadsAWeightHasIt) {
  GraphPlan graph{.name = "g",
                  .tensors = {TensorOn("w", {.first = 0, .count = 1}, 100, TensorKind::kConstant)},
                  .operators = {OperatorOf("a", {0}, {}, {}), OperatorOf("b", {0}, {}, {})}};
  graph.operators[1].ipu = 1;
  graph.tensors[0].shared = 0;
  EXPECT_EQ(FindProgramBytes({&graph}, {.tiles_per_ipu = 2, .ipus = 2}).constants,
            (Bytes{100, 0, 100, 0}));
}

TEST(ProgramBytesTest, ACodeletIsOnEachTileOnceAndItsStateWithEveryStep) {
  const GraphPlan graph{
      .name = "g",
      .operators = {OperatorOf("a", {}, {}, {Compute("popops::Cast", {.first = 0, .count = 2})}),
                    OperatorOf("b", {}, {}, {Compute("popops::Cast", {.first = 1, .count = 2})}),
                    OperatorOf("c", {}, {}, {Compute("popops::Relu", {.first = 3, .count = 1})})}};
  const ProgramBytes program = FindProgramBytes({&graph, &graph}, kFourTiles);
  EXPECT_EQ(Beyond(program.vertex_code, kFixedVertexCodeBytes), (Bytes{150, 150, 150, 200}));
  EXPECT_EQ(program.vertex_state, (Bytes{20, 40, 20, 20}));
  EXPECT_EQ(Beyond(program.control_code, kFixedControlCodeBytes), (Bytes{34, 68, 34, 34}));
}

TEST(ProgramBytesTest, OutlinedOperatorsHaveTheCodeOfOne) {
  const Superstep step = Compute("popops::Cast", {.first = 0, .count = 1});
  GraphPlan graph{.name = "g",
                  .operators = {OperatorOf("a", {}, {}, {step}), OperatorOf("b", {}, {}, {step}),
                                OperatorOf("c", {}, {}, {step})}};
  graph.operators[1].outlined = 0;
  graph.operators[2].outlined = 0;
  EXPECT_EQ(FindProgramBytes({&graph}, kFourTiles).vertex_state, (Bytes{10, 0, 0, 0}));
  // Another IPU needs it as well, once.
  graph.operators[1].ipu = graph.operators[2].ipu = 1;
  EXPECT_EQ(FindProgramBytes({&graph}, {.tiles_per_ipu = 2, .ipus = 2}).vertex_state,
            (Bytes{10, 0, 10, 0}));
}

TEST(ProgramBytesTest, EveryCallCopiesItsArguments) {
  Superstep copy = Compute("poplar_rt::DstVectorMemcpy", {.first = 0, .count = 1});
  copy.at_call = true;
  const Superstep step = Compute("popops::Cast", {.first = 0, .count = 1});
  GraphPlan graph{
      .name = "g",
      .operators = {OperatorOf("a", {}, {}, {copy, step}), OperatorOf("b", {}, {}, {copy, step})}};
  graph.operators[1].outlined = 0;
  const ProgramBytes program = FindProgramBytes({&graph}, kFourTiles);
  EXPECT_EQ(program.vertex_state, (Bytes{30, 0, 0, 0}));
  EXPECT_EQ(Beyond(program.control_code, kFixedControlCodeBytes), (Bytes{51, 0, 0, 0}));
}

TEST(ProgramBytesTest, ExchangeCodeOfTheHostIsToldApart) {
  const auto step = [](Phase phase, std::uint64_t bytes) {
    Superstep result = StepOf(phase, {.first = 0, .count = 1});
    result.exchange_code_bytes = bytes;
    return result;
  };
  const GraphPlan graph{
      .name = "g",
      .operators = {
          OperatorOf("load", {}, {}, {step(Phase::kHostLoad, 40)}),
          OperatorOf("a", {}, {}, {step(Phase::kIoToCompute, 5), step(Phase::kExchange, 6)}),
          OperatorOf("store", {}, {}, {step(Phase::kHostStore, 2)})}};
  const ProgramBytes program = FindProgramBytes({&graph}, kFourTiles);
  EXPECT_EQ(Beyond(program.host_exchange_code, kFixedHostExchangeCodeBytes), (Bytes{42, 0, 0, 0}));
  EXPECT_EQ(Beyond(program.internal_exchange_code, kFixedInternalExchangeCodeBytes),
            (Bytes{11, 0, 0, 0}));
}

TEST(ProgramBytesTest, EqualExchangesHaveTheirCodeOnce) {
  Superstep step = StepOf(Phase::kExchange, {.first = 0, .count = 1});
  step.exchange_code_bytes = 40;
  step.bytes = 8;
  Superstep other = step;
  other.bytes = 9;
  const GraphPlan graph{
      .name = "g",
      .operators = {OperatorOf("a", {}, {}, {step, other}), OperatorOf("b", {}, {}, {step})}};
  EXPECT_EQ(Beyond(FindProgramBytes({&graph}, kFourTiles).internal_exchange_code,
                   kFixedInternalExchangeCodeBytes),
            (Bytes{80, 0, 0, 0}));
}

TEST(ProgramBytesTest, ExchangesOfWeightsHaveCodeOfTheirOwn) {
  Superstep step = StepOf(Phase::kExchange, {.first = 0, .count = 1});
  step.exchange_code_bytes = 40;
  step.reads_weights = true;
  const GraphPlan graph{
      .name = "g", .operators = {OperatorOf("a", {}, {}, {step}), OperatorOf("b", {}, {}, {step})}};
  EXPECT_EQ(Beyond(FindProgramBytes({&graph}, kFourTiles).internal_exchange_code,
                   kFixedInternalExchangeCodeBytes),
            (Bytes{80, 0, 0, 0}));
}

}  // namespace
}  // namespace poprt::ipu
