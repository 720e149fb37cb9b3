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

TEST(ModelDeviceTest, RefusesOperandsTheKernelDoesNotTake) {
  auto image = std::make_shared<Image>(*TwoBranches());
  image->payload.program.branches[0].slots[2].type.shape = {2};
  EXPECT_THROW(MakeModelDevice(0)->Load(image), DeviceError);
}

}  // namespace
}  // namespace poprt::device
