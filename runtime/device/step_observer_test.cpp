#include "runtime/device/step_observer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "runtime/device/model_device.hpp"
#include "runtime/tensor/tensor.hpp"

namespace poprt::device {
namespace {

using program::Branch;
using program::kNoSlot;
using program::Program;
using program::Space;
using program::Step;
using ::testing::ElementsAre;

const TensorType kVector{ElementType::kFloat32, {2}};
const TensorType kTruth{ElementType::kBool, {}};
const TensorType kNumber{ElementType::kInt64, {}};

/// n times: v = even(i) ? v + v : -v, where even comes from outside. Then y = Relu(v).
Program LoopWithIf() {
  Branch branch{.name = "graph",
                .slots = {{kNumber, Space::kArena, 0},    // n
                          {kVector, Space::kArena, 64},   // x
                          {kTruth, Space::kArena, 128},   // which body of the If
                          {kNumber, Space::kArena, 192},  // iteration
                          {kTruth, Space::kArena, 256},   // whether to go on
                          {kVector, Space::kArena, 320},  // v
                          {kVector, Space::kArena, 384},  // its next value
                          {kVector, Space::kArena, 448}},
                .inputs = {{"n", 0}, {"x", 1}, {"choice", 2}},
                .outputs = {{"y", 7}},
                .steps = {},
                .arena_bytes = 512};
  Step choice{.name = "choice", .kernel = "If", .inputs = {2}, .outputs = {6}, .attributes = {}};
  choice.bodies = {{.inputs = {}, .outputs = {6}, .steps = {{"double", "Add", {5, 5}, {6}, {}}}},
                   {.inputs = {}, .outputs = {6}, .steps = {{"negate", "Neg", {5}, {6}, {}}}}};
  Step loop{.name = "loop",
            .kernel = "Loop",
            .inputs = {0, kNoSlot, 1},
            .outputs = {5},
            .attributes = {}};
  loop.bodies = {{.inputs = {3, 4}, .outputs = {4, 6}, .steps = {choice}}};
  branch.steps = {loop, {"last", "Relu", {5}, {7}, {}}};
  return {.branches = {branch},
          .batches_per_step = 1,
          .ipu_version = "ipu2",
          .tiles = 1216,
          .io_tiles = 0};
}

class Log : public StepObserver {
 public:
  void Begin(const Step& step) override { lines.push_back("+" + step.name); }
  void End(const Step& step) override { lines.push_back("-" + step.name); }

  std::vector<std::string> lines;
};

class StepObserverTest : public ::testing::Test {
 protected:
  using Vector = std::array<float, 2>;

  StepObserverTest()
      : loaded_(MakeModelDevice(0)->Load(std::make_shared<Image>(
            Image{.owner = nullptr, .payload = {.program = LoopWithIf(), .weights = {}}}))) {}

  /// With the log as the observer, or without one.
  Vector Run(std::int64_t n, bool choice, Log* log) {
    const Vector x{1, -2};
    Vector y{};
    const std::array<const void*, 3> inputs{&n, x.data(), &choice};
    const std::array<void*, 1> outputs{y.data()};
    std::array<std::int64_t, 1> extents{};
    if (log == nullptr) {
      loaded_->Run(0, inputs, outputs, extents);
    } else {
      loaded_->RunObserved(0, inputs, outputs, extents, *log);
    }
    return y;
  }

  std::unique_ptr<LoadedProgram> loaded_;
};

TEST_F(StepObserverTest, SeesTheStepsThatRunAndThoseInsideThem) {
  Log log;
  EXPECT_EQ(Run(2, true, &log), (Vector{4, 0}));
  EXPECT_THAT(log.lines, ElementsAre("+loop", "+choice", "+double", "-double", "-choice", "+choice",
                                     "+double", "-double", "-choice", "-loop", "+last", "-last"));
  log.lines.clear();
  EXPECT_EQ(Run(1, false, &log), (Vector{0, 2}));
  EXPECT_THAT(log.lines, ElementsAre("+loop", "+choice", "+negate", "-negate", "-choice", "-loop",
                                     "+last", "-last"));
}

TEST_F(StepObserverTest, ChangesNoResult) {
  Log log;
  for (const std::int64_t n : {0, 1, 3}) {
    for (const bool choice : {false, true}) {
      EXPECT_EQ(Run(n, choice, &log), Run(n, choice, nullptr)) << n << choice;
    }
  }
}

}  // namespace
}  // namespace poprt::device
