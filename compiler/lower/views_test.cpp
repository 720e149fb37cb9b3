#include "compiler/lower/views.hpp"

#include <gtest/gtest.h>

#include "compiler/lower/schedule_for_test.hpp"

namespace poprt::lower {
namespace {

const Attributes kAxis1{{"axis", std::int64_t{1}}};

/// Where a buffer is: its storage and the offset there.
std::pair<BufferId, std::uint64_t> PlaceOf(const Schedule& schedule, BufferId id) {
  return {schedule.Storage(id), schedule.buffers[id].view_offset};
}

std::vector<std::string> Kernels(const Schedule& schedule) {
  std::vector<std::string> kernels;
  for (const Step& step : schedule.steps) kernels.push_back(step.kernel);
  return kernels;
}

using Names = std::vector<std::string>;
using Place = std::pair<BufferId, std::uint64_t>;

TEST(ViewsTest, PartsOfABlockedConcatAreWrittenInPlace) {
  // [1, C / 16, H, W, 16]: 1 and 2 blocks of 4 pixels.
  Schedule schedule{.name = "m",
                    .buffers = {Activation({1, 1, 2, 2, 16}), Activation({1, 1, 2, 2, 16}),
                                Activation({1, 2, 2, 2, 16}), Activation({1, 3, 2, 2, 16}),
                                Activation({1, 3, 2, 2, 16})},
                    .inputs = {{"x", 0}},
                    .outputs = {{"y", 4}},
                    .steps = {Call("Relu", {0}, {1}), Call("Tile", {0}, {2}),
                              Call("Concat", {1, 2}, {3}, kAxis1), Call("Relu", {3}, {4})}};
  MakeViews(schedule);
  EXPECT_EQ(Kernels(schedule), (Names{"Relu", "Tile", "Relu"}));
  EXPECT_EQ(PlaceOf(schedule, 1), Place(3, 0));
  EXPECT_EQ(PlaceOf(schedule, 2), Place(3, 256));
  EXPECT_EQ(PlaceOf(schedule, 3), Place(3, 0));
}

TEST(ViewsTest, ConcatBehindARealAxisStays) {
  Schedule schedule{.name = "m",
                    .buffers = {Activation({2, 16}), Activation({2, 16}), Activation({2, 16}),
                                Activation({2, 32})},
                    .inputs = {{"x", 0}},
                    .outputs = {{"y", 3}},
                    .steps = {Call("Relu", {0}, {1}), Call("Neg", {0}, {2}),
                              Call("Concat", {1, 2}, {3}, kAxis1)}};
  MakeViews(schedule);
  EXPECT_EQ(Kernels(schedule), (Names{"Relu", "Neg", "Concat"}));
  EXPECT_FALSE(schedule.buffers[1].view_of.has_value());
}

TEST(ViewsTest, MisalignedPartsStay) {
  Schedule schedule{.name = "m",
                    .buffers = {Activation({1, 15}), Activation({1, 15}), Activation({1, 16}),
                                Activation({1, 31})},
                    .inputs = {{"x", 0}},
                    .outputs = {{"y", 3}},
                    .steps = {Call("Relu", {0}, {1}), Call("Pad", {0}, {2}),
                              Call("Concat", {1, 2}, {3}, kAxis1)}};
  MakeViews(schedule);
  EXPECT_EQ(Kernels(schedule), (Names{"Relu", "Pad", "Concat"}));
}

TEST(ViewsTest, WhatCannotBeWrittenInPlaceIsCopied) {
  // An input, a part used twice.
  Schedule schedule{.name = "m",
                    .buffers = {Activation({1, 16}), Activation({1, 16}), Activation({1, 48})},
                    .inputs = {{"x", 0}},
                    .outputs = {{"y", 2}},
                    .steps = {Call("Relu", {0}, {1}), Call("Concat", {0, 1, 1}, {2}, kAxis1)}};
  MakeViews(schedule);
  ASSERT_EQ(Kernels(schedule), (Names{"Relu", "Identity", "Identity"}));
  EXPECT_EQ(PlaceOf(schedule, 0), Place(0, 0));
  EXPECT_EQ(PlaceOf(schedule, 1), Place(2, 64));
  EXPECT_EQ(schedule.steps[1].name, "Concat/part_0");
  EXPECT_EQ(schedule.steps[1].inputs, (std::vector<BufferId>{0}));
  EXPECT_EQ(PlaceOf(schedule, schedule.steps[1].outputs[0]), Place(2, 0));
  EXPECT_EQ(schedule.steps[2].inputs, (std::vector<BufferId>{1}));
  EXPECT_EQ(PlaceOf(schedule, schedule.steps[2].outputs[0]), Place(2, 128));
}

/// Both forms of dense blocks end in one buffer that every layer has a prefix of.
TEST(ViewsTest, DenseBlocksAreOneBuffer) {
  for (const bool chained : {true, false}) {
    SCOPED_TRACE(chained);
    Schedule schedule{.name = "m",
                      .buffers = {Activation({1, 16}), Activation({1, 16}), Activation({1, 16}),
                                  Activation({1, 32}), Activation({1, 16}), Activation({1, 48}),
                                  Activation({1, 48})},
                      .inputs = {{"x", 0}},
                      .outputs = {{"y", 6}},
                      .steps = {Call("Relu", {0}, {1}), Call("Neg", {1}, {2}),
                                Call("Concat", {1, 2}, {3}, kAxis1), Call("Slice1", {3}, {4}),
                                chained ? Call("Concat", {3, 4}, {5}, kAxis1)
                                        : Call("Concat", {1, 2, 4}, {5}, kAxis1),
                                Call("Relu", {5}, {6})}};
    MakeViews(schedule);
    EXPECT_EQ(Kernels(schedule), (Names{"Relu", "Neg", "Slice1", "Relu"}));
    EXPECT_EQ(PlaceOf(schedule, 1), Place(5, 0));
    EXPECT_EQ(PlaceOf(schedule, 2), Place(5, 64));
    EXPECT_EQ(PlaceOf(schedule, 3), Place(5, 0));
    EXPECT_EQ(PlaceOf(schedule, 4), Place(5, 128));
  }
}

TEST(ViewsTest, AValueOfTwoDifferentConcatsIsCopiedToTheSecond) {
  Schedule schedule{
      .name = "m",
      .buffers = {Activation({1, 16}), Activation({1, 16}), Activation({1, 16}),
                  Activation({1, 16}), Activation({1, 32}), Activation({1, 32})},
      .inputs = {{"x", 0}},
      .outputs = {{"y", 4}, {"z", 5}},
      .steps = {Call("Relu", {0}, {1}), Call("Neg", {0}, {2}), Call("Abs", {0}, {3}),
                Call("Concat", {1, 2}, {4}, kAxis1), Call("Concat", {1, 3}, {5}, kAxis1)}};
  MakeViews(schedule);
  EXPECT_EQ(Kernels(schedule), (Names{"Relu", "Neg", "Abs", "Identity"}));
  EXPECT_EQ(PlaceOf(schedule, 1), Place(4, 0));
  EXPECT_EQ(PlaceOf(schedule, 2), Place(4, 64));
  EXPECT_EQ(PlaceOf(schedule, 3), Place(5, 64));
}

TEST(ViewsTest, ContiguousSplitSliceAndGatherAreViews) {
  Schedule schedule{
      .name = "m",
      .buffers = {Activation({1, 4, 16}), Activation({1, 1, 16}), Activation({1, 3, 16}),
                  Activation({1, 2, 16}), Activation({1, 16}), Activation({1, 3, 1, 16})},
      .inputs = {{"x", 0}},
      .outputs = {{"a", 1}, {"b", 3}, {"c", 4}, {"d", 5}},
      .steps = {
          Call("Split", {0}, {1, 2}, kAxis1),
          Call("Slice", {2}, {3}, {{"starts", Ints{1}}, {"ends", Ints{9}}, {"axes", Ints{1}}}),
          Call("Gather", {2, 6}, {4}, kAxis1),
          Call("Transpose", {7}, {5}, {{"perm", Ints{0, 2, 1, 3}}})}};
  const std::int64_t last = -1;
  Buffer index{.type = {ElementType::kInt64, {}}};
  index.constant = Tensor(index.type, &last);
  schedule.buffers.push_back(index);
  schedule.buffers.push_back(Activation({1, 1, 3, 16}));
  schedule.buffers[7].view_of = 2;
  MakeViews(schedule);
  EXPECT_EQ(Kernels(schedule), Names{});
  EXPECT_EQ(PlaceOf(schedule, 1), Place(0, 0));
  EXPECT_EQ(PlaceOf(schedule, 2), Place(0, 64));
  EXPECT_EQ(PlaceOf(schedule, 3), Place(0, 128));
  EXPECT_EQ(PlaceOf(schedule, 4), Place(0, 192));
  EXPECT_EQ(PlaceOf(schedule, 5), Place(0, 64));
  EXPECT_EQ(PlaceOf(schedule, 7), Place(0, 64));
}

TEST(ViewsTest, SlicesThatAreNotOnePieceStay) {
  for (const Attributes& attributes :
       {Attributes{{"starts", Ints{0}}, {"ends", Ints{1}}, {"axes", Ints{1}}},
        Attributes{{"starts", Ints{0}}, {"ends", Ints{4}}, {"axes", Ints{0}}, {"steps", Ints{2}}},
        Attributes{
            {"starts", Ints{3}}, {"ends", Ints{-9}}, {"axes", Ints{0}}, {"steps", Ints{-1}}}}) {
    Schedule schedule{.name = "m",
                      .buffers = {Activation({4, 16}), Activation({4, 1})},
                      .inputs = {{"x", 0}},
                      .outputs = {{"y", 1}},
                      .steps = {Call("Slice", {0}, {1}, attributes)}};
    MakeViews(schedule);
    EXPECT_EQ(Kernels(schedule), Names{"Slice"});
  }
}

TEST(ViewsTest, WhatLeavesABodyStays) {
  Schedule schedule{.name = "m",
                    .buffers = {Activation({1, 32}), Activation({1, 16}), Activation({1, 16}),
                                Activation({1, 16}), Activation({1, 32})},
                    .inputs = {{"x", 0}, {"c", 3}},
                    .outputs = {{"y", 4}},
                    .steps = {}};
  Step choice = Call("If", {3}, {1});
  const Attributes first{{"starts", Ints{0}}, {"ends", Ints{16}}, {"axes", Ints{1}}};
  choice.bodies = {{.inputs = {}, .outputs = {1}, .steps = {Call("Slice", {0}, {1}, first)}},
                   {.inputs = {}, .outputs = {2}, .steps = {Call("Slice", {0}, {2}, first)}}};
  schedule.steps = {choice, Call("Concat", {1, 1}, {4}, kAxis1)};
  MakeViews(schedule);
  EXPECT_EQ(Kernels(schedule), (Names{"If", "Concat"}));
  EXPECT_EQ(schedule.steps[0].bodies[0].steps.size(), 1U);
  EXPECT_EQ(schedule.steps[0].bodies[1].steps.size(), 1U);
}

}  // namespace
}  // namespace poprt::lower
