#include "runtime/kernels/packed/rows_in_parts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/kernels/packed/packed_testing.hpp"
#include "runtime/kernels/packed/scaled_panels_testing.hpp"
#include "runtime/kernels/quantized/best_byte_micro_kernels.hpp"

namespace poprt::kernels::testing {
namespace {

/// [panels][rows][16].
std::vector<float> Products(const IntegerRowKernels& kernels, const Tensor& a, const Tensor& b,
                            int panels) {
  const std::int64_t rows = a.shape()[0];
  const std::int64_t depth = a.shape()[1];
  const RowsInParts parts(kernels, rows, depth);
  EXPECT_LE(parts.Elements(), RowsInParts::MostElements(rows, depth));
  std::vector<std::uint32_t> memory(static_cast<std::size_t>(parts.Elements()));
  auto* const bytes = reinterpret_cast<std::byte*>(memory.data());
  EXPECT_TRUE(parts.Scale(a.as<float>().data(), depth, bytes));
  std::vector<float> products(static_cast<std::size_t>(panels * rows * kPanel));
  parts.Multiply(bytes, {b.as<std::int32_t>().data(), ScaledLines(depth) * kPanel, panels},
                 [&](std::int64_t row, std::int64_t count, int panel, const float* tile) {
                   std::copy_n(tile, count * kPanel,
                               products.data() + (panel * rows + row) * kPanel);
                 });
  return products;
}

/// Of all processors, also those whose instructions this one has better forms of.
TEST(RowsInParts, AnyRowsAndPanelsAreMultiplied) {
  constexpr int kPanels = 7;
  Random random(21);
  for (const std::int64_t depth : {1, 63, 64, 65, 200}) {
    const Tensor b = Scaled(random.Values({ElementType::kFloat32, {kPanels, depth, kPanel}}));
    const std::vector<double> numbers = Doubles(Unscaled(b, depth));
    for (std::int64_t rows = 1; rows <= kMostScaledRows; ++rows) {
      SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(depth));
      const Tensor a = random.Values({ElementType::kFloat32, {rows, depth}});
      for (const ByteMicroKernels* kernels : SupportedByteMicroKernels()) {
        const auto all = Products(*kernels->wide_integer_rows, a, b, kPanels);
        for (std::size_t i = 0; i < all.size(); ++i) {
          const std::size_t row = i / kPanel;
          const auto at = static_cast<std::size_t>(depth);
          double wanted = 0;
          for (std::size_t k = 0; k < at; ++k) {
            wanted +=
                a.as<float>()[row % static_cast<std::size_t>(rows) * at + k] *
                numbers[(row / static_cast<std::size_t>(rows) * at + k) * kPanel + i % kPanel];
          }
          ASSERT_NEAR(all[i], wanted, 2e-6 * static_cast<double>(depth)) << i;
        }
        for (int panels = 1; panels < kPanels; ++panels) {
          const auto some = Products(*kernels->wide_integer_rows, a, b, panels);
          EXPECT_TRUE(std::equal(some.begin(), some.end(), all.begin())) << panels;
        }
      }
    }
  }
}

TEST(RowsInParts, LargeNumbersHaveNone) {
  const auto is_scaled = [](float number) {
    const RowsInParts parts(*SupportedByteMicroKernels().front()->wide_integer_rows, 1, 70);
    std::vector<float> row(70, 1);
    row[69] = number;
    std::vector<std::uint32_t> memory(static_cast<std::size_t>(parts.Elements()));
    return parts.Scale(row.data(), 70, reinterpret_cast<std::byte*>(memory.data()));
  };
  EXPECT_TRUE(is_scaled(0x1.FFFFFEp99F));
  EXPECT_TRUE(is_scaled(-0x1p-149F));
  EXPECT_FALSE(is_scaled(-0x1p100F));
  EXPECT_FALSE(is_scaled(std::numeric_limits<float>::infinity()));
  EXPECT_FALSE(is_scaled(std::nanf("")));
}

}  // namespace
}  // namespace poprt::kernels::testing
