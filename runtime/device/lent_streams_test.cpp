#include "runtime/device/lent_streams.hpp"

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "runtime/device/program_for_test.hpp"

namespace poprt::device {
namespace {

constexpr std::size_t kFloats = LentStreams::kLeastBytes / sizeof(float);
constexpr std::size_t kUnits = LentStreams::kLeastBytes / kSlotAlignment;
constexpr std::uint64_t kBytes = LentStreams::kLeastBytes;

/// Memory of the caller: every `i`th float of it holds i + first.
std::vector<float> Counting(std::size_t floats, float first) {
  std::vector<float> values(floats);
  std::iota(values.begin(), values.end(), first);
  return values;
}

void RunOnce(LoadedProgram& program, const std::vector<const void*>& inputs,
             const std::vector<void*>& outputs) {
  std::vector<std::int64_t> extents(outputs.size());
  program.Run(0, inputs, outputs, extents);
}

/// y = x - x + x, where y shares the bytes of x.
Branch SumOf(std::size_t units) {
  return {.name = "branch",
          .slots = {{Vector(units), Space::kArena, 0},
                    {Vector(units), Space::kArena, units * kSlotAlignment},
                    {Vector(units), Space::kArena, 0}},
          .inputs = {{"x", 0}},
          .outputs = {{"y", 2}},
          .steps = {{"zero", "Sub", {0, 0}, {1}, {}}, {"y", "Add", {0, 1}, {2}, {}}},
          .arena_bytes = 2 * units * kSlotAlignment};
}

/// Steps with their operands, and what is lent of them.
struct Lent {
  explicit Lent(const Branch& branch)
      : arena(branch.arena_bytes),
        workspace{.arena = arena.data(), .weights = nullptr, .variables = nullptr},
        stages(BindStages(branch, branch.steps, workspace)),
        streams(branch, stages) {}

  const KernelStep& step(std::size_t i) const { return std::get<KernelStep>(stages[0][i]); }
  const std::byte* at(std::uint64_t offset) const { return arena.data() + offset; }

  std::vector<std::byte> arena;
  Workspace workspace;
  std::vector<BoundSteps> stages;
  LentStreams streams;
};

const std::byte* Address(const void* memory) { return static_cast<const std::byte*>(memory); }

TEST(LentStreamsTest, StepsWorkInMemoryOfTheCallerForTheTimeOfALoan) {
  Lent lent(SumOf(kUnits));
  const std::vector<float> x(kFloats);
  std::vector<float> y(kFloats);
  const std::array<const void*, 1> inputs{x.data()};
  const std::array<void*, 1> outputs{y.data()};
  {
    const LentStreams::Loan loan = lent.streams.Lend(inputs, outputs);
    EXPECT_EQ(loan.inputs()[0], nullptr);
    EXPECT_EQ(loan.outputs()[0], nullptr);
    EXPECT_EQ(lent.step(0).inputs[0], Address(x.data()));
    EXPECT_EQ(lent.step(0).outputs[0], lent.at(kBytes));
    EXPECT_EQ(lent.step(1).inputs[0], Address(x.data()));
    EXPECT_EQ(lent.step(1).inputs[1], lent.at(kBytes));
    EXPECT_EQ(lent.step(1).outputs[0], Address(y.data()));
  }
  EXPECT_EQ(lent.step(0).inputs[0], lent.at(0));
  EXPECT_EQ(lent.step(1).inputs[0], lent.at(0));
  EXPECT_EQ(lent.step(1).outputs[0], lent.at(0));
}

TEST(LentStreamsTest, SmallAndUnalignedMemoryIsCopied) {
  Lent small(SumOf(1));
  Lent large(SumOf(kUnits));
  std::vector<float> x(kFloats + 1);
  std::vector<float> y(kFloats + 1);
  const std::array<const void*, 1> inputs{x.data()};
  const std::array<void*, 1> outputs{y.data()};
  EXPECT_EQ(small.streams.Lend(inputs, outputs).inputs()[0], x.data());
  EXPECT_EQ(small.streams.Lend(inputs, outputs).outputs()[0], y.data());
  const std::array<const void*, 1> odd_inputs{x.data() + 1};
  const std::array<void*, 1> odd_outputs{y.data() + 1};
  EXPECT_EQ(large.streams.Lend(odd_inputs, outputs).inputs()[0], x.data() + 1);
  EXPECT_EQ(large.streams.Lend(odd_inputs, outputs).outputs()[0], nullptr);
  EXPECT_EQ(large.streams.Lend(inputs, odd_outputs).inputs()[0], nullptr);
  EXPECT_EQ(large.streams.Lend(inputs, odd_outputs).outputs()[0], y.data() + 1);
}

TEST(LentStreamsTest, OutputsThatShareMemoryAreCopied) {
  Lent lent(SumOf(kUnits));
  std::vector<float> memory(2 * kFloats);
  for (const std::size_t distance : {std::size_t{0}, std::size_t{4}, kFloats}) {
    const std::array<const void*, 1> inputs{memory.data()};
    const std::array<void*, 1> outputs{memory.data() + distance};
    const LentStreams::Loan loan = lent.streams.Lend(inputs, outputs);
    EXPECT_EQ(loan.inputs()[0], nullptr);
    EXPECT_EQ(loan.outputs()[0], distance == kFloats ? nullptr : outputs[0]);
  }
}

/// The second half of x is computed anew in its place before all of it is read.
TEST(LentStreamsTest, AnInputThatIsWrittenToIsCopied) {
  const Branch branch{.name = "branch",
                      .slots = {{Vector(2 * kUnits), Space::kArena, 0},
                                {Vector(kUnits), Space::kArena, kBytes},
                                {Vector(2 * kUnits), Space::kArena, 2 * kBytes}},
                      .inputs = {{"x", 0}},
                      .outputs = {{"y", 2}},
                      .steps = {{"half", "Neg", {1}, {1}, {}}, {"y", "Neg", {0}, {2}, {}}},
                      .arena_bytes = 4 * kBytes};
  Lent lent(branch);
  const std::vector<float> x(2 * kFloats);
  std::vector<float> y(2 * kFloats);
  const LentStreams::Loan loan =
      lent.streams.Lend(std::array<const void*, 1>{x.data()}, std::array<void*, 1>{y.data()});
  EXPECT_EQ(loan.inputs()[0], x.data());
  EXPECT_EQ(loan.outputs()[0], nullptr);
}

/// y is the second half of x, z = -x.
Branch HalfOf() {
  return {.name = "branch",
          .slots = {{Vector(2 * kUnits), Space::kArena, 0},
                    {Vector(kUnits), Space::kArena, kBytes},
                    {Vector(2 * kUnits), Space::kArena, 2 * kBytes}},
          .inputs = {{"x", 0}},
          .outputs = {{"y", 1}, {"z", 2}},
          .steps = {{"z", "Neg", {0}, {2}, {}}},
          .arena_bytes = 4 * kBytes};
}

TEST(LentStreamsTest, OutputsThatArePartsOfAnInputAreCopiedFromIt) {
  Lent lent(HalfOf());
  const std::vector<float> x = Counting(2 * kFloats, 3);
  std::vector<float> y(kFloats);
  std::vector<float> z(2 * kFloats);
  {
    const LentStreams::Loan loan = lent.streams.Lend(std::array<const void*, 1>{x.data()},
                                                     std::array<void*, 2>{y.data(), z.data()});
    EXPECT_EQ(loan.inputs()[0], nullptr);
    EXPECT_EQ(loan.outputs()[0], nullptr);
    EXPECT_EQ(lent.step(0).inputs[0], Address(x.data()));
    EXPECT_EQ(y, Counting(kFloats, 3 + kFloats));
  }
  // Nobody wants y.
  const LentStreams::Loan loan = lent.streams.Lend(std::array<const void*, 1>{x.data()},
                                                   std::array<void*, 2>{nullptr, z.data()});
  EXPECT_EQ(loan.inputs()[0], nullptr);
}

TEST(LentStreamsTest, AnInputIsCopiedWhosePartSharesMemoryWithIt) {
  Lent lent(HalfOf());
  std::vector<float> x = Counting(2 * kFloats, 3);
  std::vector<float> z(2 * kFloats);
  {
    const LentStreams::Loan loan = lent.streams.Lend(std::array<const void*, 1>{x.data()},
                                                     std::array<void*, 2>{x.data(), z.data()});
    EXPECT_EQ(loan.inputs()[0], x.data());
    EXPECT_EQ(loan.outputs()[0], x.data());
    EXPECT_EQ(x, Counting(2 * kFloats, 3));
  }
  const auto program = Load(ProgramOf({HalfOf()}, 0));
  RunOnce(*program, {x.data()}, {x.data(), z.data()});
  EXPECT_EQ(std::vector<float>(x.begin(), x.begin() + kFloats), Counting(kFloats, 3 + kFloats));
  EXPECT_EQ(z[1], -4);
}

TEST(LentStreamsTest, PartsOfAnInputAreReadBeforeOutputsAreStoredOverIt) {
  const auto program = Load(ProgramOf({HalfOf()}, 0));
  std::vector<float> x = Counting(2 * kFloats, 3);
  std::vector<float> y(kFloats);
  RunOnce(*program, {x.data()}, {y.data(), x.data()});
  EXPECT_EQ(y, Counting(kFloats, 3 + kFloats));
  EXPECT_EQ(x[1], -4);
}

TEST(LentStreamsTest, AnInputThatNobodyReadsIsNotCopied) {
  const Branch branch{
      .name = "branch",
      .slots = {{Vector(kUnits), Space::kArena, 0}, {Vector(1), Space::kArena, kBytes}},
      .inputs = {{"x", 0}, {"small", 1}},
      .outputs = {{"y", 1}},
      .steps = {},
      .arena_bytes = kBytes + kSlotAlignment};
  Lent lent(branch);
  const std::vector<float> x(kFloats);
  std::vector<float> y(kFloats);
  const std::array<const void*, 2> inputs{x.data(), x.data()};
  const LentStreams::Loan loan = lent.streams.Lend(inputs, std::array<void*, 1>{y.data()});
  EXPECT_EQ(loan.inputs()[0], nullptr);
  EXPECT_EQ(loan.inputs()[1], x.data());
}

TEST(LentStreamsTest, AnInputMayBeTwoOutputs) {
  const Branch branch{.name = "branch",
                      .slots = {{Vector(kUnits), Space::kArena, 0}},
                      .inputs = {{"x", 0}},
                      .outputs = {{"y", 0}, {"y2", 0}},
                      .steps = {},
                      .arena_bytes = kBytes};
  const auto program = Load(ProgramOf({branch}, 0));
  const std::vector<float> x = Counting(kFloats, 3);
  std::vector<float> y(kFloats);
  std::vector<float> y2(kFloats);
  RunOnce(*program, {x.data()}, {y.data(), y2.data()});
  EXPECT_EQ(y, x);
  EXPECT_EQ(y2, x);
}

TEST(LentStreamsTest, AnOutputMayBeWhereAnotherInputIs) {
  const Branch branch{
      .name = "branch",
      .slots = {{Vector(kUnits), Space::kArena, 0}, {Vector(kUnits), Space::kArena, kBytes}},
      .inputs = {{"x", 0}, {"x2", 1}},
      .outputs = {{"y", 0}, {"y2", 1}},
      .steps = {},
      .arena_bytes = 2 * kBytes};
  const auto program = Load(ProgramOf({branch}, 0));
  std::vector<float> a = Counting(kFloats, 3);
  std::vector<float> b = Counting(kFloats, -5);
  std::vector<float> c(kFloats);
  RunOnce(*program, {a.data(), b.data()}, {b.data(), c.data()});
  EXPECT_EQ(b, a);
  EXPECT_EQ(c, Counting(kFloats, -5));
}

/// An output that neither begins nor ends where another does still shares memory with it.
TEST(LentStreamsTest, EveryOutputThatSharesMemoryIsFound) {
  const Branch branch{.name = "branch",
                      .slots = {{Vector(kUnits), Space::kArena, 0},
                                {Vector(4 * kUnits), Space::kArena, kBytes},
                                {Vector(kUnits), Space::kArena, 5 * kBytes},
                                {Vector(kUnits), Space::kArena, 6 * kBytes}},
                      .inputs = {{"x", 0}},
                      .outputs = {{"y", 1}, {"a", 2}, {"b", 3}},
                      .steps = {{"y", "Concat", {0, 0, 0, 0}, {1}, {{"axis", std::int64_t{0}}}},
                                {"a", "Neg", {0}, {2}, {}},
                                {"b", "Neg", {0}, {3}, {}}},
                      .arena_bytes = 7 * kBytes};
  Lent lent(branch);
  const std::vector<float> x(kFloats);
  std::vector<float> memory(8 * kFloats);
  const auto copied = [&](std::size_t y, std::size_t a, std::size_t b) {
    const LentStreams::Loan loan = lent.streams.Lend(
        std::array<const void*, 1>{x.data()},
        std::array<void*, 3>{memory.data() + y, memory.data() + a, memory.data() + b});
    std::vector<bool> found;
    for (const void* output : loan.outputs()) found.push_back(output != nullptr);
    return found;
  };
  const auto kUnit = kFloats;
  EXPECT_EQ(copied(0, 4 * kUnit, 5 * kUnit), (std::vector{false, false, false}));
  EXPECT_EQ(copied(0, kUnit, 3 * kUnit - 4), (std::vector{true, true, true}));
  EXPECT_EQ(copied(0, 6 * kUnit, 2 * kUnit), (std::vector{true, false, true}));
  EXPECT_EQ(copied(2 * kUnit, kUnit + 4, 6 * kUnit), (std::vector{true, true, false}));
  EXPECT_EQ(copied(0, 6 * kUnit, 6 * kUnit + 4), (std::vector{false, true, true}));
}

/// Two pieces of an output arise in their places, one of them in two steps.
TEST(LentStreamsTest, PiecesOfAnOutputAriseInIt) {
  const Branch branch{.name = "branch",
                      .slots = {{Vector(kUnits), Space::kArena, 0},
                                {Vector(kUnits), Space::kArena, kBytes},
                                {Vector(kUnits), Space::kArena, 2 * kBytes},
                                {Vector(2 * kUnits), Space::kArena, kBytes}},
                      .inputs = {{"x", 0}},
                      .outputs = {{"y", 3}},
                      .steps = {{"a", "Neg", {0}, {1}, {}},
                                {"b", "Sub", {0, 1}, {2}, {}},
                                {"b2", "Neg", {2}, {2}, {}}},
                      .arena_bytes = 3 * kBytes};
  Lent lent(branch);
  const std::vector<float> x = Counting(kFloats, 1);
  std::vector<float> y(2 * kFloats);
  {
    const LentStreams::Loan loan =
        lent.streams.Lend(std::array<const void*, 1>{x.data()}, std::array<void*, 1>{y.data()});
    EXPECT_EQ(lent.step(0).outputs[0], Address(y.data()));
    EXPECT_EQ(lent.step(1).inputs[1], Address(y.data()));
    EXPECT_EQ(lent.step(2).outputs[0], Address(y.data() + kFloats));
  }
  const auto program = Load(ProgramOf({branch}, 0));
  RunOnce(*program, {x.data()}, {y.data()});
  for (std::size_t i = 0; i < kFloats; ++i) {
    ASSERT_EQ(y[i], -x[i]);
    ASSERT_EQ(y[kFloats + i], -2 * x[i]);
  }
}

TEST(LentStreamsTest, BatchesThatAreLoadedAndStoredAreCopiedAfterARun) {
  const auto program = Load(ProgramOf({SumOf(kUnits)}, 0));
  const std::vector<float> x = Counting(kFloats, 1);
  std::vector<float> y(kFloats);
  RunOnce(*program, {x.data()}, {y.data()});
  EXPECT_EQ(y, x);
  const std::vector<float> other = Counting(kFloats, 7);
  std::vector<float> result(kFloats);
  std::array<std::int64_t, 1> extents{};
  program->Load(0, 0, std::array<const void*, 1>{other.data()});
  program->Compute(0, 0, 0, nullptr);
  program->Store(0, 0, std::array<void*, 1>{result.data()}, extents);
  EXPECT_EQ(result, other);
  EXPECT_EQ(y, x);
}

/// Steps of random programs at their places in the arena against steps in memory of the caller.
TEST(LentStreamsTest, RandomProgramsComputeTheSame) {
  const unsigned first = std::random_device()();
  for (unsigned seed = first; seed != first + 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Branch branch = RandomBranch(seed, kUnits).branch();
    const auto program = Load(ProgramOf({branch}, 0));
    std::mt19937 random(seed);
    for (int i = 0; i < 3; ++i) {
      TestBatch batch(branch, random);
      program->Load(0, 0, batch.input_pointers);
      program->Compute(0, 0, 0, nullptr);
      program->Store(0, 0, batch.output_pointers, batch.extents);
      const auto expected = batch.outputs;
      const auto inputs = batch.inputs;
      for (auto& output : batch.outputs) std::ranges::fill(output, std::byte{0});
      program->Run(0, batch.input_pointers, batch.output_pointers, batch.extents);
      ASSERT_EQ(batch.outputs, expected);
      ASSERT_EQ(batch.inputs, inputs);
    }
  }
}

}  // namespace
}  // namespace poprt::device
