#include <gtest/gtest.h>

#include <limits>

#include "runtime/kernels/packed/row_tiles.hpp"
#include "runtime/kernels/recurrent/recurrent_testing.hpp"

namespace poprt::kernels {
namespace {

using testing::CallOf;
using testing::ExpectReference;
using testing::kRecurrentKinds;
using testing::kRecurrentSeed;
using testing::LargeCase;
using testing::NameOf;
using testing::Packed;
using testing::RandomTensor;
using testing::RunWithThreads;
using testing::TunedNameOf;
using enum ElementType;
using Case = testing::RecurrentCase;

void ExpectSameWithThreads(std::string_view name, const Case& test) {
  SCOPED_TRACE(std::string(name) + " of batch " + std::to_string(test.shape.batch));
  const auto alone = RunOnce(name, test.inputs, test.outputs(), test.attributes);
  const auto kind = *std::ranges::find_if(kRecurrentKinds, [&](RecurrentKind k) {
    return NameOf(k) == name || TunedNameOf(k) == name;
  });
  const bool uses_unit = name == TunedNameOf(kind) &&
                         testing::UsesUnit(RecurrentPlan(kind, CallOf(test), BestInnerLoops()));
  ExpectReference(test, alone, uses_unit ? testing::kUnitUlps : testing::kOrdinaryUlps);
  const BoundKernel kernel = FindKernel(name)->bind(CallOf(test));
  for (const int threads : {2, 3}) EXPECT_EQ(RunWithThreads(kernel, test, threads), alone);
}

TEST(RecurrentThreadsTest, LongSequencesDoNotDependOnThreads) {
  for (const RecurrentKind kind : kRecurrentKinds) {
    for (const char* direction : {"reverse", "bidirectional"}) {
      for (const std::int64_t batch : {kTileRows + 2, kTileRows / 2}) {
        Case test = LargeCase(kind, direction, batch, kFloat32);
        ExpectSameWithThreads(NameOf(kind), test);
        ExpectSameWithThreads(TunedNameOf(kind), test);
        if (kind != RecurrentKind::kGru) continue;
        test.attributes.set("linear_before_reset", std::int64_t{1});
        ExpectSameWithThreads(TunedNameOf(kind), test);
      }
    }
  }
}

TEST(RecurrentThreadsTest, OtherElementsAndManyInputsDoNotDependOnThreads) {
  for (const RecurrentKind kind : kRecurrentKinds) {
    const auto name = TunedNameOf(kind);
    ExpectSameWithThreads(name, LargeCase(kind, "forward", 3, ElementType::kFloat64));
    ExpectSameWithThreads(name, LargeCase(kind, "forward", 3, ElementType::kFloat16));
    // So many inputs are shared out apart, and those of steps that are not shared out.
    ExpectSameWithThreads(name, LargeCase(kind, "reverse", 1, kFloat32, 520, 70));
    Case large = LargeCase(kind, "bidirectional", 8, kFloat32, 520);
    ExpectSameWithThreads(name, large);
    large.inputs[0].as_mutable<float>()[7] = std::numeric_limits<float>::infinity();
    ExpectSameWithThreads(name, large);
  }
}

TEST(RecurrentThreadsTest, ThreadsShareOutSequences) {
  for (const RecurrentKind kind : kRecurrentKinds) {
    for (const char* direction : {"reverse", "bidirectional"}) {
      for (const std::int64_t batch : {9, 37}) {
        for (const std::int64_t layout : {0, 1}) {
          SCOPED_TRACE(std::string(TunedNameOf(kind)) + " " + direction + ", batch " +
                       std::to_string(batch) + ", layout " + std::to_string(layout));
          Case test = LargeCase(kind, direction, batch, kFloat32, 20, 52);
          if (layout == 1) {
            std::mt19937 random(kRecurrentSeed);
            test.attributes.set("layout", layout);
            test.inputs[0] = RandomTensor(random, kFloat32, {batch, test.shape.steps, 20}, -1, 1);
            test.inputs[5] = RandomTensor(random, kFloat32, {batch, test.directions(), 52}, -1, 1);
          }
          const Case packed = Packed(test);
          const RecurrentPlan plan(kind, CallOf(packed), BestInnerLoops());
          EXPECT_EQ(plan.sequences, batch == 9 ? 5 : 10);
          const BoundKernel kernel = FindKernel(TunedNameOf(kind))->bind(CallOf(packed));
          const auto alone = RunWithThreads(kernel, packed, 1);
          ExpectReference(test, alone,
                          testing::UsesUnit(plan) ? testing::kUnitUlps : testing::kOrdinaryUlps);
          for (const int threads : {2, 3}) {
            EXPECT_EQ(RunWithThreads(kernel, packed, threads), alone);
          }
        }
      }
    }
  }
}

TEST(RecurrentThreadsTest, OneThreadTakesFourSequencesAtOnce) {
  for (const std::int64_t batch : {4, 5, 6}) {
    for (const std::int64_t inputs : {20, 72}) {
      const Case test =
          LargeCase(RecurrentKind::kLstm, "bidirectional", batch, kFloat32, inputs, 80);
      const Case packed = Packed(test);
      const RecurrentPlan plan(RecurrentKind::kLstm, CallOf(packed), BestInnerLoops());
      EXPECT_EQ(plan.sequences, (batch + 1) / 2);
      EXPECT_EQ(plan.sequences_alone == 4, batch == 4);
      const BoundKernel kernel =
          FindKernel(TunedNameOf(RecurrentKind::kLstm))->bind(CallOf(packed));
      const auto alone = RunWithThreads(kernel, packed, 1);
      ExpectReference(test, alone,
                      testing::UsesUnit(plan) ? testing::kUnitUlps : testing::kOrdinaryUlps);
      for (const int threads : {2, 3}) EXPECT_EQ(RunWithThreads(kernel, packed, threads), alone);
    }
  }
}

TEST(RecurrentThreadsTest, SequencesOfAPartDependOnSizes) {
  const auto sequences = [](RecurrentKind kind, std::int64_t batch, std::int64_t h) {
    const Case packed = Packed(LargeCase(kind, "forward", batch, kFloat32, 20, h));
    return RecurrentPlan(kind, CallOf(packed), BestInnerLoops()).sequences;
  };
  EXPECT_EQ(sequences(RecurrentKind::kLstm, 4, 80), 2);
  EXPECT_EQ(sequences(RecurrentKind::kLstm, 3, 80), 3);  // nothing to share out
  EXPECT_EQ(sequences(RecurrentKind::kLstm, 7, 20), 7);  // short steps
  EXPECT_EQ(sequences(RecurrentKind::kGru, 7, 80), 7);
  EXPECT_EQ(sequences(RecurrentKind::kGru, 8, 80), 4);
  EXPECT_EQ(sequences(RecurrentKind::kRnn, 80, 80), 14);    // six parts
  EXPECT_EQ(sequences(RecurrentKind::kLstm, 40, 240), 40);  // weights of 975 KiB
  EXPECT_EQ(sequences(RecurrentKind::kRnn, 8, 10), 8);      // too little work
}

}  // namespace
}  // namespace poprt::kernels
