#include "runtime/kernels/parallel.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace poprt::kernels {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

alignas(64) constexpr std::array<std::byte, 64> kLine{};

/// The ranges of `count` elements that are written `offset` bytes behind the beginning of a line.
std::vector<std::pair<std::int64_t, std::int64_t>> RangesOf(std::int64_t count, std::size_t offset,
                                                            std::size_t bytes) {
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
  ForLines(nullptr, count, 40, kLine.data() + offset, bytes,
           [&](std::int64_t begin, std::int64_t end, int /*worker*/) {
             ranges.emplace_back(begin, end);
           });
  return ranges;
}

TEST(ForLines, CutsWhereALineBegins) {
  EXPECT_THAT(RangesOf(100, 16, 4), ElementsAre(Pair(0, 12), Pair(12, 40), Pair(40, 44),
                                                Pair(44, 80), Pair(80, 92), Pair(92, 100)));
}

TEST(ForLines, LeavesRangesThatBeginWithALineOrEndInIt) {
  EXPECT_THAT(RangesOf(64, 0, 8), ElementsAre(Pair(0, 40), Pair(40, 64)));
  EXPECT_THAT(RangesOf(5, 16, 4), ElementsAre(Pair(0, 5)));
}

TEST(ForLines, LeavesElementsThatLieAcrossLines) {
  EXPECT_THAT(RangesOf(30, 2, 4), ElementsAre(Pair(0, 30)));
}

}  // namespace
}  // namespace poprt::kernels
