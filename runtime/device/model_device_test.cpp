#include "runtime/device/model_device.hpp"

#include <gtest/gtest.h>

#include <array>

#include "runtime/tensor/tensor.hpp"

namespace poprt::device {
namespace {

using program::Branch;
using program::Program;
using program::Space;

const TensorType kVector{ElementType::kFloat32, {4}};

/// Branch 0: y = x + w. Branch 1: z = Relu(x).
std::shared_ptr<const Image> TwoBranches() {
  const std::array<float, 16> weights{10, 20, 30, 40};
  const Tensor memory({ElementType::kFloat32, {16}}, weights.data());
  Branch add{.name = "add",
             .slots = {{kVector, Space::kArena, 0},
                       {kVector, Space::kWeights, 0},
                       {kVector, Space::kArena, 64}},
             .inputs = {{"x", 0}},
             .outputs = {{"y", 2}},
             .steps = {{"n0", "Add", {0, 1}, {2}, {}}},
             .arena_bytes = 128};
  Branch relu{.name = "relu",
              .slots = {{kVector, Space::kArena, 0}, {kVector, Space::kArena, 64}},
              .inputs = {{"x", 0}},
              .outputs = {{"z", 1}},
              .steps = {{"n0", "Relu", {0}, {1}, {}}},
              .arena_bytes = 128};
  Program program{.branches = {add, relu},
                  .batches_per_step = 1,
                  .ipu_version = "ipu2",
                  .tiles = 1472,
                  .io_tiles = 0};
  auto owner = std::make_shared<Tensor>(memory);
  return std::make_shared<Image>(
      Image{.owner = owner, .payload = {program, {owner->data(), owner->bytes()}}});
}

TEST(ModelDeviceTest, RunsTheChosenBranch) {
  const auto loaded = MakeModelDevice(0)->Load(TwoBranches());
  const std::array<float, 4> x{-1, 2, -3, 4};
  std::array<float, 4> result{};
  const std::array<const void*, 1> inputs{x.data()};
  const std::array<void*, 1> outputs{result.data()};
  std::array<std::int64_t, 1> extents{};
  loaded->Run(0, inputs, outputs, extents);
  EXPECT_EQ(result, (std::array<float, 4>{9, 22, 27, 44}));
  loaded->Run(1, inputs, outputs, extents);
  EXPECT_EQ(result, (std::array<float, 4>{0, 2, 0, 4}));
}

/// Branch 0: y = x + w. Branch 1: z = Relu(v). Variables v and w; v is a view in branch 1.
std::shared_ptr<const Image> WithVariables() {
  auto image = std::make_shared<Image>(*TwoBranches());
  Program& program = image->payload.program;
  program.variables = {{"v", {ElementType::kFloat32, {2, 2}}, 0}, {"w", kVector, 64}};
  program.branches[0].slots[1] = {kVector, Space::kVariables, 64};
  program.branches[1].slots.push_back({kVector, Space::kVariables, 0});
  program.branches[1].steps[0].inputs = {2};
  return image;
}

using Vector = std::array<float, 4>;

Vector RunOn(LoadedProgram& loaded, std::size_t branch, const Vector& x) {
  Vector result{};
  const std::array<const void*, 1> inputs{x.data()};
  const std::array<void*, 1> outputs{result.data()};
  std::array<std::int64_t, 1> extents{};
  loaded.Run(branch, inputs, outputs, extents);
  return result;
}

TEST(ModelDeviceTest, StepsThatDifferInAttributesAloneHaveKernelsOfTheirOwn) {
  const auto leaky = [](const char* name, float slope, program::SlotIndex from) {
    return program::Step{name, "LeakyRelu", {from}, {from + 1}, Attributes{{"alpha", slope}}};
  };
  Branch branch{.name = "leaky",
                .slots = {{kVector, Space::kArena, 0},
                          {kVector, Space::kArena, 64},
                          {kVector, Space::kArena, 128},
                          {kVector, Space::kArena, 192}},
                .inputs = {{"x", 0}},
                .outputs = {{"y", 3}},
                .steps = {leaky("a", 0.5F, 0), leaky("b", 0.25F, 1), leaky("c", 0.5F, 2)},
                .arena_bytes = 256};
  const auto loaded = MakeModelDevice(0)->Load(std::make_shared<Image>(
      Image{.owner = nullptr,
            .payload = {.program = {.branches = {branch}, .ipu_version = "ipu2", .tiles = 1472},
                        .weights = {}}}));
  EXPECT_EQ(RunOn(*loaded, 0, {-16, 2, -32, 4}), (Vector{-1, 2, -2, 4}));
}

void LoadInto(LoadedProgram& loaded, const Vector* v, const Vector* w) {
  loaded.LoadVariables(std::array<const void*, 2>{v, w});
}

TEST(ModelDeviceTest, VariablesKeepWhatWasLoaded) {
  const auto loaded = MakeModelDevice(0)->Load(WithVariables());
  const Vector v{-1, 1, -2, 2};
  const Vector w{1, 2, 3, 4};
  LoadInto(*loaded, &v, &w);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(RunOn(*loaded, 0, {1, 1, 1, 1}), (Vector{2, 3, 4, 5}));
    EXPECT_EQ(RunOn(*loaded, 1, {7, 7, 7, 7}), (Vector{0, 1, 0, 2}));
  }
  const Vector other{10, 20, 30, 40};
  LoadInto(*loaded, nullptr, &other);
  EXPECT_EQ(RunOn(*loaded, 0, {1, 1, 1, 1}), (Vector{11, 21, 31, 41}));
  EXPECT_EQ(RunOn(*loaded, 1, {7, 7, 7, 7}), (Vector{0, 1, 0, 2}));
  Vector saved{};
  loaded->SaveVariables(std::array<void*, 2>{nullptr, saved.data()});
  EXPECT_EQ(saved, other);
  loaded->SaveVariables(std::array<void*, 2>{saved.data(), nullptr});
  EXPECT_EQ(saved, v);
}

TEST(ModelDeviceTest, ProgramsOfOneImageHaveVariablesOfTheirOwn) {
  const auto image = WithVariables();
  const auto device = MakeModelDevice(0);
  const auto first = device->Load(image);
  const auto second = device->Load(image);
  const Vector one{1, 1, 1, 1};
  const Vector two{2, 2, 2, 2};
  LoadInto(*first, &one, &one);
  LoadInto(*second, &two, &two);
  EXPECT_EQ(RunOn(*first, 0, one), two);
  EXPECT_EQ(RunOn(*second, 0, one), (Vector{3, 3, 3, 3}));
}

TEST(ModelDeviceTest, RunsNothingBeforeEveryVariableIsLoaded) {
  const auto loaded = MakeModelDevice(0)->Load(WithVariables());
  const auto problem = [&] {
    try {
      RunOn(*loaded, 0, {});
    } catch (const DeviceError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const Vector ones{1, 1, 1, 1};
  EXPECT_EQ(problem(), "the load program has not given a value to the variables 'v' 'w'");
  LoadInto(*loaded, nullptr, &ones);
  LoadInto(*loaded, nullptr, &ones);
  EXPECT_EQ(problem(), "the load program has not given a value to the variables 'v'");
  LoadInto(*loaded, &ones, nullptr);
  EXPECT_EQ(problem(), "");
}

TEST(ModelDeviceTest, NamesTheStepThatCannotBeBound) {
  auto image = std::make_shared<Image>(*TwoBranches());
  image->payload.program.branches[1].steps[0].kernel = "NoSuchKernel";
  try {
    MakeModelDevice(0)->Load(image);
    FAIL();
  } catch (const DeviceError& error) {
    EXPECT_STREQ(error.what(),
                 "branch 'relu', step 'n0': this runtime has no kernel 'NoSuchKernel': use the "
                 "runtime that belongs to the compiler");
  }
}

TEST(ModelDeviceTest, ComputesInPlaceWhereTheKernelCan) {
  auto image = std::make_shared<Image>(*TwoBranches());
  program::Branch& relu = image->payload.program.branches[1];
  relu.slots[1].offset = 0;
  const Vector wanted{0, 2, 0, 4};
  EXPECT_EQ(RunOn(*MakeModelDevice(0)->Load(image), 1, {-1, 2, -3, 4}), wanted);
  relu.slots[0].type.shape = {0};  // no bytes to share: any kernel will do
  relu.slots[1].type.shape = {0};
  relu.steps[0].kernel = "Identity";
  EXPECT_NO_THROW(MakeModelDevice(0)->Load(image));
  relu.slots[0].type = kVector;
  relu.slots[1].type = kVector;
  relu.steps[0].kernel = "Transpose";
  try {
    MakeModelDevice(0)->Load(image);
    FAIL();
  } catch (const DeviceError& error) {
    EXPECT_STREQ(
        error.what(),
        "branch 'relu', step 'n0': kernel 'Transpose' cannot write its output over input 0");
  }
}

TEST(ModelDeviceTest, RefusesOperandsTheKernelDoesNotTake) {
  auto image = std::make_shared<Image>(*TwoBranches());
  image->payload.program.branches[0].slots[2].type.shape = {2};
  EXPECT_THROW(MakeModelDevice(0)->Load(image), DeviceError);
}

}  // namespace
}  // namespace poprt::device
