#include "runtime/kernels/packed/fetch_ahead.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <vector>

namespace poprt::kernels::testing {
namespace {

/// The lines of a panel of `next` that all tiles fetch together, as the micro-kernel asks for them.
template <class T>
std::set<std::int64_t> FetchedLines(std::int64_t tiles, std::int64_t depth) {
  constexpr auto kLine = static_cast<std::int64_t>(64 / sizeof(T));
  const FetchAhead fetch(tiles, depth, sizeof(T));
  const std::vector<T> memory(static_cast<std::size_t>(tiles * depth * kPanel + 1));
  const T* const current = memory.data();
  const T* const next = memory.data() + 1;
  std::set<std::int64_t> lines;
  for (std::int64_t t = 0; t < tiles; ++t) {
    const Ahead<T> ahead = fetch.Of(t, current, next);
    EXPECT_LE(ahead.step, 2 * kLine);
    if (ahead.first == current) continue;
    for (std::int64_t k = 0; k + 4 <= depth; k += 4) {
      const std::int64_t element = ahead.first - next + k / 4 * ahead.step;
      lines.insert(element / kLine);
      if (ahead.fetching == Fetching::kFar) lines.insert(element / kLine + 1);
    }
  }
  return lines;
}

template <class T>
void ExpectWholePanels() {
  for (const std::int64_t depth : {16, 256, 384, 512, 1024}) {
    const std::int64_t lines = depth * kPanel * static_cast<std::int64_t>(sizeof(T)) / 64;
    for (std::int64_t tiles = 2; tiles <= 40; ++tiles) {
      const auto fetched = FetchedLines<T>(tiles, depth);
      for (std::int64_t line = 0; line < lines; ++line) {
        EXPECT_TRUE(fetched.contains(line)) << line << " of depth " << depth << ", " << tiles;
      }
    }
  }
}

TEST(FetchAhead, TilesFetchWholePanelsTogether) {
  ExpectWholePanels<float>();
  ExpectWholePanels<std::uint16_t>();
}

TEST(FetchAhead, OnlyWhatStaysInTheFirstLevelCacheIsFetchedThere) {
  const std::vector<float> memory(16 * 385 * kPanel);
  const float* const panels = memory.data();
  const auto fetching = [&](std::int64_t tiles, std::int64_t depth) {
    return FetchAhead(tiles, depth, sizeof(float)).Of(tiles - 1, panels, panels + 1).fetching;
  };
  EXPECT_EQ(fetching(8, 384), Fetching::kNear);
  EXPECT_EQ(fetching(8, 385), Fetching::kFar);
  EXPECT_EQ(fetching(2, 64), Fetching::kFar);
}

/// What the micro-kernel asks for, four rows of the depth at a time, is that of four rows.
template <class T>
void ExpectOwnRows() {
  const std::vector<T> memory(64 * kPanel);
  const T* const panels = memory.data();
  const Ahead<T> ahead = FetchAhead(1, 64, sizeof(T)).Of(0, panels, panels + 1);
  EXPECT_EQ(ahead.fetching, Fetching::kOwn);
  EXPECT_EQ(ahead.step, 4 * kPanel);
  EXPECT_GT(ahead.first, panels);
  EXPECT_EQ((ahead.first - panels) * static_cast<std::int64_t>(sizeof(T)) % 64, 0);
}

TEST(FetchAhead, TheOnlyTileFetchesAllThatItReadsNext) {
  ExpectOwnRows<float>();
  ExpectOwnRows<std::uint16_t>();
}

}  // namespace
}  // namespace poprt::kernels::testing
