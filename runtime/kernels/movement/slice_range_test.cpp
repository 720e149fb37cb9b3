#include "runtime/kernels/movement/slice_range.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "runtime/kernels/kernel.hpp"

namespace poprt::kernels {
namespace {

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

TEST(SliceRangeTest, ClampsLikeOnnx) {
  struct Case {
    std::int64_t start, end, step, extent;
    SliceRange range;
  };
  const std::vector<Case> cases{
      {0, 5, 1, 10, {0, 1, 5}},
      {-3, kMax, 1, 10, {7, 1, 3}},
      {20, 30, 1, 10, {10, 1, 0}},
      {0, 10, 3, 10, {0, 3, 4}},
      {9, kMin, -1, 10, {9, -1, 10}},
      {kMax, -11, -4, 10, {9, -4, 3}},
      {3, 7, -1, 10, {3, -1, 0}},
      {kMax, kMin, kMin, 10, {9, kMin, 1}},
      {kMin, kMax, kMax, 10, {0, kMax, 1}},
      {0, 5, -1, 0, {0, -1, 0}},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(i);
    const Case& c = cases[i];
    EXPECT_EQ(ResolveSlice({{"starts", Ints{c.start}},
                            {"ends", Ints{c.end}},
                            {"axes", Ints{-1}},
                            {"steps", Ints{c.step}}},
                           {2, c.extent}),
              (std::vector<SliceRange>{{0, 1, 2}, c.range}));
  }
}

TEST(SliceRangeTest, RefusesNonsense) {
  const auto error = [](const Attributes& attributes) -> std::string {
    try {
      ResolveSlice(attributes, {4, 4});
    } catch (const KernelError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(error({{"starts", Ints{0}}, {"ends", Ints{1}}, {"steps", Ints{0}}}),
            "attribute 'steps' holds 0");
  EXPECT_EQ(error({{"starts", Ints{0}}, {"ends", Ints{1}}, {"axes", Ints{2}}}),
            "attribute 'axes' holds 2, the input has rank 2");
  EXPECT_EQ(error({{"starts", Ints{0, 0}}, {"ends", Ints{1, 1}}, {"axes", Ints{1, -1}}}),
            "attribute 'axes' names axis 1 twice");
  EXPECT_EQ(error({{"starts", Ints{0}}, {"ends", Ints{}}}),
            "attributes starts, ends, axes, steps have 1, 0, 1, 1 numbers, they must have equally "
            "many");
}

}  // namespace
}  // namespace poprt::kernels
