#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "runtime/kernels/kernel_test_index.hpp"
#include "runtime/kernels/quantized/best_byte_micro_kernels.hpp"

namespace poprt::kernels {
namespace {

using testing::Draw;
using testing::ForSeeds;

/// Any quads; now and then with the bytes whose sums are largest, which must not saturate.
std::vector<Quad> RandomQuads(std::mt19937& random, std::int64_t count, Quad extreme) {
  std::vector<Quad> quads;
  const bool is_extreme = random() % 3 == 0;
  while (static_cast<std::int64_t>(quads.size()) < count) {
    quads.push_back(is_extreme ? extreme : static_cast<Quad>(random()));
  }
  return quads;
}

std::int32_t Product(Quad value, Quad factor) {
  std::int32_t sum = 0;
  for (int i = 0; i < 32; i += 8) {
    sum += static_cast<std::uint8_t>(value >> i) * static_cast<std::int8_t>(factor >> i);
  }
  return sum;
}

TEST(ByteMicroKernelsTest, MultiplyIsExact) {
  for (const ByteMicroKernels* tiles : SupportedByteMicroKernels()) {
    SCOPED_TRACE(tiles->name);
    ForSeeds(60, [&](std::mt19937& random) {
      const std::int64_t rows = Draw(random, 1, 70);
      const std::int64_t lanes = kQuadVector * Draw(random, 1, 20);
      const std::int64_t count = Draw(random, 0, 40);
      const std::vector<Quad> values = RandomQuads(random, 1200, ~Quad{0});
      const std::vector<Quad> factors = RandomQuads(random, count * rows, Quad{0x80808080});
      std::vector<std::int64_t> offsets;
      // A matrix unit takes those that are evenly apart.
      const bool are_even = Draw(random, 0, 1) == 0;
      const std::int64_t step = Draw(random, -10, 10);
      for (std::int64_t t = 0; t < count; ++t) {
        offsets.push_back(are_even ? 400 + t * step : Draw(random, 0, 400));
      }
      const std::int64_t pitch = lanes + Draw(random, 0, 5);
      std::vector<std::int32_t> out(static_cast<std::size_t>(rows * pitch), 7);
      tiles->multiply(rows, lanes, values.data(), offsets.data(), factors.data(), count, out.data(),
                      pitch);
      for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t lane = 0; lane < pitch; ++lane) {
          std::int32_t wanted = lane < lanes ? 0 : 7;
          for (std::int64_t t = 0; lane < lanes && t < count; ++t) {
            wanted += Product(values[static_cast<std::size_t>(offsets[t] + lane)],
                              factors[static_cast<std::size_t>(r * count + t)]);
          }
          ASSERT_EQ(out[static_cast<std::size_t>(r * pitch + lane)], wanted) << r << ' ' << lane;
        }
      }
    });
  }
}

TEST(ByteMicroKernelsTest, InterleaveWritesWhatItShould) {
  for (const ByteMicroKernels* tiles : SupportedByteMicroKernels()) {
    SCOPED_TRACE(tiles->name);
    ForSeeds(60, [&](std::mt19937& random) {
      const std::int64_t n = Draw(random, 0, 70);
      std::vector<std::uint8_t> bytes[4];
      const std::uint8_t* rows[4];
      for (std::size_t i = 0; i < 4; ++i) {
        for (std::int64_t c = 0; c < n; ++c)
          bytes[i].push_back(static_cast<std::uint8_t>(random()));
        rows[i] = bytes[i].data();
      }
      const auto move = static_cast<Quad>(random());
      std::vector<Quad> quads(static_cast<std::size_t>(n + 1), 7);
      tiles->interleave(rows, n, move, quads.data());
      for (std::size_t c = 0; c < static_cast<std::size_t>(n); ++c) {
        for (std::size_t i = 0; i < 4; ++i) {
          ASSERT_EQ(static_cast<std::uint8_t>((quads[c] ^ move) >> (8 * i)), bytes[i][c]) << c;
        }
      }
      EXPECT_EQ(quads.back(), 7U);
    });
  }
}

}  // namespace
}  // namespace poprt::kernels
