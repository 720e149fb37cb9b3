#include "runtime/program/executable_payload.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "runtime/tensor/tensor.hpp"

namespace poprt::program {
namespace {

Program SmallProgram() {
  const TensorType type{ElementType::kFloat32, {4}};
  Step step{.name = "add",
            .kernel = "Add",
            .inputs = {0, 1, kNoSlot},
            .outputs = {2},
            .attributes = {{"axis", std::int64_t{-1}},
                           {"epsilon", 0.5F},
                           {"mode", std::string("linear")},
                           {"pads", Ints{1, 2}},
                           {"scales", Floats{0.5F, 2.0F}},
                           {"texts", Strings{"a", ""}}}};
  Branch branch{.name = "graph0",
                .slots = {{type, Space::kArena, 0},
                          {type, Space::kWeights, 64},
                          {type, Space::kArena, 64},
                          {{ElementType::kInt64, {}}, Space::kWeights, 0},
                          {type, Space::kVariables, 0}},
                .inputs = {{"graph0/x", 0}},
                .outputs = {{"graph0/y", 2, {{.axis = 0, .slot = 3}}}},
                .steps = {step, step},
                .arena_bytes = 128};
  branch.steps[1].stage = 1;
  return {.branches = {branch},
          .batches_per_step = 4,
          .ipu_version = "ipu21",
          .tiles = 1472,
          .io_tiles = 32,
          .variables = {{"graph0/w", type, 0}, {"graph0/v", {ElementType::kFloat16, {2, 3}}, 64}}};
}

/// Payload with 128 bytes of weights, in aligned memory.
Tensor SmallPayload() {
  const std::string head = SerializeHead(SmallProgram(), 128);
  Tensor bytes({ElementType::kUint8, {static_cast<std::int64_t>(head.size() + 128)}});
  std::memcpy(bytes.mutable_data(), head.data(), head.size());
  return bytes;
}

TEST(ExecutablePayloadTest, RoundTrip) {
  const Tensor bytes = SmallPayload();
  const Payload payload = ParsePayload({bytes.data(), bytes.bytes()});
  const Program expected = SmallProgram();
  ASSERT_EQ(payload.program.branches.size(), 1U);
  const Branch& branch = payload.program.branches[0];
  EXPECT_EQ(branch.name, "graph0");
  EXPECT_EQ(branch.arena_bytes, 128U);
  ASSERT_EQ(branch.steps.size(), 2U);
  EXPECT_EQ(branch.steps[0].stage, 0U);
  EXPECT_EQ(branch.steps[1].stage, 1U);
  EXPECT_EQ(branch.steps[0].attributes, expected.branches[0].steps[0].attributes);
  EXPECT_EQ(branch.steps[0].inputs, (std::vector<SlotIndex>{0, 1, kNoSlot}));
  EXPECT_EQ(branch.slots[1].space, Space::kWeights);
  EXPECT_EQ(branch.slots[1].type, (TensorType{ElementType::kFloat32, {4}}));
  EXPECT_EQ(branch.outputs[0].name, "graph0/y");
  ASSERT_TRUE(branch.outputs[0].extent.has_value());
  EXPECT_EQ(branch.outputs[0].extent->axis, 0U);
  EXPECT_EQ(branch.outputs[0].extent->slot, 3U);
  EXPECT_FALSE(branch.inputs[0].extent.has_value());
  EXPECT_EQ(payload.program.batches_per_step, 4U);
  EXPECT_EQ(payload.program.ipu_version, "ipu21");
  EXPECT_EQ(payload.program.io_tiles, 32U);
  ASSERT_EQ(payload.program.variables.size(), 2U);
  EXPECT_EQ(payload.program.variables[1].name, "graph0/v");
  EXPECT_EQ(payload.program.variables[1].type, (TensorType{ElementType::kFloat16, {2, 3}}));
  EXPECT_EQ(payload.program.variables[1].offset, 64U);
  EXPECT_EQ(branch.slots[4].space, Space::kVariables);
  EXPECT_EQ(payload.weights.size(), 128U);
  EXPECT_EQ((payload.weights.data() - bytes.data()) % kWeightsAlignment, 0);
}

TEST(ExecutablePayloadTest, WritesTheSameBytesAgain) {
  EXPECT_EQ(SerializeHead(SmallProgram(), 128), SerializeHead(SmallProgram(), 128));
}

TEST(ExecutablePayloadTest, RefusesEveryTruncation) {
  const Tensor bytes = SmallPayload();
  for (std::size_t size = 0; size < bytes.bytes(); ++size) {
    EXPECT_THROW(ParsePayload({bytes.data(), size}), PayloadError) << size;
  }
}

TEST(ExecutablePayloadTest, RefusesEveryAlteredByteOfHeaderAndProgram) {
  Tensor bytes = SmallPayload();
  std::uint64_t program_bytes = 0;
  std::memcpy(&program_bytes, bytes.data() + 16, sizeof(program_bytes));
  for (std::size_t i = 0; i < 64 + program_bytes; ++i) {
    bytes.mutable_data()[i] ^= std::byte{0x41};
    EXPECT_THROW(ParsePayload({bytes.data(), bytes.bytes()}), PayloadError) << i;
    bytes.mutable_data()[i] ^= std::byte{0x41};
  }
}

TEST(ExecutablePayloadTest, RefusesStepsWithMoreAttributesThanAnyKernelHas) {
  Program program = SmallProgram();
  for (int i = 0; i < 300; ++i) {
    program.branches[0].steps[0].attributes.set("a" + std::to_string(i), std::int64_t{i});
  }
  std::string bytes = SerializeHead(program, 128);
  bytes.resize(bytes.size() + 128);
  EXPECT_THROW(ParsePayload(std::as_bytes(std::span(bytes))), PayloadError);
}

TEST(ExecutablePayloadTest, RefusesVariablesThatOverlap) {
  Program program = SmallProgram();
  program.variables[1].offset = 0;
  std::string bytes = SerializeHead(program, 128);
  bytes.resize(bytes.size() + 128);
  EXPECT_THROW(ParsePayload(std::as_bytes(std::span(bytes))), PayloadError);
}

TEST(ExecutablePayloadTest, RefusesTensorAttributes) {
  Program program = SmallProgram();
  program.branches[0].steps[0].attributes.set("value", Tensor({ElementType::kInt8, {1}}));
  EXPECT_THROW(SerializeHead(program, 128), PayloadError);
}

}  // namespace
}  // namespace poprt::program
