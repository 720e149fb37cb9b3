#include "compiler/tuner/workload.hpp"

#include <gtest/gtest.h>

#include "compiler/lower/schedule_for_test.hpp"

namespace poprt::tuner {
namespace {

using lower::Activation;
using lower::Call;

KernelUse Use(const std::string& kernel, int count = 1) {
  return {.kernel = kernel, .inputs = {}, .outputs = {}, .attributes = {}, .count = count};
}

std::vector<std::string> Texts(const std::vector<KernelUse>& uses) {
  std::vector<std::string> texts;
  for (const KernelUse& use : uses)
    texts.push_back(std::to_string(use.count) + " " + Describe(use));
  return texts;
}

TEST(WorkloadTest, DescribesAllThatTimeDependsOn) {
  const Tensor weights({ElementType::kFloat16, {3, 2}});
  KernelUse use{.kernel = "gemm",
                .inputs = {{{ElementType::kFloat32, {1, 3}}}, {weights.type(), weights}, {}},
                .outputs = {{ElementType::kFloat32, {1, 2}}},
                .attributes = {{"n", std::int64_t{2}}, {"activation", std::string("relu")}},
                .count = 5};
  EXPECT_EQ(Describe(use),
            "gemm(float32[1, 3], constant float16[3, 2], -) {activation=\"relu\", n=2} -> "
            "float32[1, 2]");
  use.attributes = {};
  EXPECT_EQ(Describe(use), "gemm(float32[1, 3], constant float16[3, 2], -) -> float32[1, 2]");
}

TEST(WorkloadTest, TakesOperandsOfTheChosenKernel) {
  ir::Graph graph;
  const TensorType row{ElementType::kFloat32, {1, 4}};
  const ir::ValueId x = graph.AddValue("x", row);
  const ir::ValueId c = graph.AddConstant("c", Tensor(row));
  const ir::Node node = graph.MakeNode("Add", {x, c}, row, {}, "add");
  const Tensor packed({ElementType::kFloat32, {8}});
  const KernelUse use = UseOf(graph, node,
                              {.kernel = "k",
                               .operands = {{.value = x, .packed = std::nullopt},
                                            {.value = c, .packed = packed},
                                            {.value = c, .packed = std::nullopt},
                                            {.value = ir::kAbsent, .packed = std::nullopt}},
                               .attributes = {}});
  EXPECT_EQ(Describe(use),
            "k(float32[1, 4], constant float32[8], constant float32[1, 4], -) -> float32[1, 4]");
  EXPECT_EQ(use.inputs[1].constant->data(), packed.data());
  EXPECT_FALSE(use.inputs[0].constant);
}

TEST(WorkloadTest, JoinsEqualStepsAndGoesIntoBodies) {
  lower::Schedule schedule;
  schedule.buffers = {Activation({4}), Activation({4}), Activation({2})};
  lower::Step branch = Call("If", {2}, {1});
  branch.bodies.push_back({.inputs = {}, .outputs = {}, .steps = {Call("Relu", {1}, {0})}});
  schedule.steps = {Call("Relu", {0}, {1}), Call("Neg", {2}, {2}), Call("Relu", {0}, {1}), branch};
  EXPECT_EQ(Texts(UsesOf(schedule)), (std::vector<std::string>{"3 Relu(float32[4]) -> float32[4]",
                                                               "1 Neg(float32[2]) -> float32[2]"}));
}

TEST(WorkloadTest, WhatBothHaveCancels) {
  std::vector<KernelUse> a = {Use("x", 3), Use("y"), Use("z", 2)};
  std::vector<KernelUse> b = {Use("z", 2), Use("x", 4), Use("w")};
  CancelCommonUses(a, b);
  EXPECT_EQ(Texts(a), (std::vector<std::string>{"1 y() -> "}));
  EXPECT_EQ(Texts(b), (std::vector<std::string>{"1 x() -> ", "1 w() -> "}));
}

}  // namespace
}  // namespace poprt::tuner
