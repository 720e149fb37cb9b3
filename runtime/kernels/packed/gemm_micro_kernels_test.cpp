#include "runtime/kernels/packed/gemm_micro_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "runtime/kernels/packed/fused_activation.hpp"
#include "runtime/kernels/packed/packed_testing.hpp"
#include "runtime/kernels/packed/panels_at_once.hpp"
#include "runtime/kernels/packed/row_tiles.hpp"

namespace poprt::kernels::testing {
namespace {

std::vector<float> Finished(const InnerLoops& loops, const std::string& activation,
                            const std::vector<float>& values) {
  std::vector<float> result(values.size());
  Epilogue epilogue = EpilogueWithActivation(ActivationAttributes(activation));
  epilogue.out = result.data();
  loops.gemm.finish(epilogue, values.data(), 0, 1, static_cast<std::int64_t>(values.size()), 0, 0);
  return result;
}

TEST(GemmMicroKernels, ActivationsAreAccurate) {
  std::vector<float> values;
  for (int i = -21898; i <= 21898; ++i) {  // -30 to 30
    values.push_back(0.00137F * static_cast<float>(i));
  }
  for (int i = 0; i < 114; ++i) {  // 1e-20 to 1
    const float x = 1e-20F * std::pow(1.5F, static_cast<float>(i));
    values.insert(values.end(), {x, -x});
  }
  for (const InnerLoops* loops : AllInnerLoops()) {
    for (const std::string& activation : AllActivations()) {
      SCOPED_TRACE(std::string(loops->instruction_set) + " " + activation);
      const std::vector<float> result = Finished(*loops, activation, values);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double x = values[i];
        const double wanted = ReferenceActivation(activation, x);
        // Where 1 + erf or 1 + tanh cancels, only the error relative to x can be small.
        const bool cancels = activation.starts_with("gelu") || activation == "hardswish";
        const double tolerance = 4e-7 * (cancels && x < 0 ? -x : std::abs(wanted));
        ASSERT_NEAR(result[i], wanted, tolerance) << "at " << x;
      }
    }
  }
}

TEST(GemmMicroKernels, ActivationsKeepNanAndReachTheirLimits) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const InnerLoops* loops : AllInnerLoops()) {
    SCOPED_TRACE(loops->instruction_set);
    for (const std::string& activation : AllActivations()) {
      EXPECT_TRUE(std::isnan(Finished(*loops, activation, {std::nanf("")})[0])) << activation;
    }
    EXPECT_EQ(Finished(*loops, "relu", {-infinity, infinity}), (std::vector{0.0F, infinity}));
    EXPECT_EQ(Finished(*loops, "tanh", {-infinity, infinity}), (std::vector{-1.0F, 1.0F}));
    EXPECT_EQ(Finished(*loops, "sigmoid", {-infinity, infinity}), (std::vector{0.0F, 1.0F}));
  }
}

TEST(GemmMicroKernels, ActivationsThatEndInZeroDoSoForLargeNumbers) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> large{10.0F, 89.0F, 1e10F, 1e38F, infinity};
  const std::vector<float> negative{-89.0F, -1e10F, -1e30F, -1e38F};
  for (const InnerLoops* loops : AllInnerLoops()) {
    SCOPED_TRACE(loops->instruction_set);
    for (const char* activation : {"gelu_erf", "gelu_tanh", "hardswish"}) {
      EXPECT_EQ(Finished(*loops, activation, large), large) << activation;
      EXPECT_EQ(Finished(*loops, activation, negative), std::vector<float>(4)) << activation;
    }
    EXPECT_EQ(Finished(*loops, "silu", {20.0F, 1e38F, infinity}),
              (std::vector{20.0F, 1e38F, infinity}));
    EXPECT_EQ(Finished(*loops, "silu", negative), std::vector<float>(4));
    // The product of zero and infinity, as ONNX's formula has it.
    EXPECT_TRUE(std::isnan(Finished(*loops, "silu", {-infinity})[0]));
  }
}

/// Rows 1 to 6 and columns 3 to 18 of an image of 7 x 21, stored in parts of `widths` columns.
std::vector<float> FinishedInParts(const InnerLoops& loops, Epilogue epilogue,
                                   const std::vector<float>& tile,
                                   const std::vector<std::int64_t>& widths) {
  std::vector<float> image(7 * 21, -1);
  epilogue.out = image.data();
  epilogue.row_stride = 21;
  std::int64_t at = 0;
  for (const std::int64_t width : widths) {
    loops.gemm.finish(epilogue, tile.data() + at, kPanel, kTileRows, width, 1, 3 + at);
    at += width;
  }
  return image;
}

TEST(GemmMicroKernels, WholePanelsAreFinishedLikeNarrowOnes) {
  std::vector<float> numbers(400);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = static_cast<float>(i * 37 % 101) / 16.0F - 3.0F;
  }
  const std::vector<float> tile(numbers.begin(), numbers.begin() + kTileRows * kPanel);
  for (const InnerLoops* loops : AllInnerLoops()) {
    for (const std::string& activation : AllActivations()) {
      for (unsigned operands = 0; operands < 16; ++operands) {
        SCOPED_TRACE(std::string(loops->instruction_set) + " " + activation +
                     std::to_string(operands));
        Epilogue epilogue = EpilogueWithActivation(ActivationAttributes(activation));
        epilogue.scale = 0.75F;
        if ((operands & 1) != 0) epilogue.column_bias = numbers.data() + 1;
        if ((operands & 2) != 0) epilogue.row_bias = numbers.data() + 50;
        if ((operands & 4) != 0) epilogue.residual = numbers.data() + 90;
        // Bits of float16 fill the first half of the image.
        epilogue.half = (operands & 8) != 0;
        const auto whole = FinishedInParts(*loops, epilogue, tile, {16});
        EXPECT_EQ(whole, FinishedInParts(*loops, epilogue, tile, {8, 5, 3}));
        EXPECT_EQ(whole, FinishedInParts(*loops, epilogue, tile, {1, 2, 6, 7}));
        EXPECT_EQ(whole[0], -1);
      }
    }
  }
}

constexpr int kTestedPanels = 4;

std::vector<float> ThousandNumbers() {
  std::vector<float> numbers(1000);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = static_cast<float>(i * 37 % 101) / 7.0F - 6.0F;
  }
  return numbers;
}

/// Panels, 0.25 everywhere before, times rows of A; `count` of them at once.
std::vector<float> Products(const GemmMicroKernels& kernels, int rows, std::int64_t depth,
                            const std::vector<float>& a, const std::vector<float>& b, int count,
                            Fetching fetching = Fetching::kOwn) {
  const std::int64_t tile = rows * kPanel;
  std::vector<float> results(static_cast<std::size_t>(kTestedPanels * tile), 0.25F);
  for (int p = 0; p < kTestedPanels; p += count) {
    const float* const first = b.data() + p * depth * kPanel;
    kernels.row_major_f32(rows, a.data(), depth, {first, depth * kPanel, count}, depth,
                          {first, kPanel, fetching}, {results.data() + p * tile, tile}, true);
  }
  return results;
}

TEST(GemmMicroKernels, PanelsSideBySideAreMultipliedLikeSingleOnes) {
  const std::vector<float> numbers = ThousandNumbers();
  const std::vector<float> b(numbers.begin() + 60, numbers.end());
  for (const InnerLoops* loops : AllInnerLoops()) {
    for (int rows = 1; rows <= loops->gemm.rows; ++rows) {
      for (const std::int64_t depth : {1, 3, 4, 9}) {
        SCOPED_TRACE(loops->instruction_set + std::to_string(rows) + " " + std::to_string(depth));
        const auto single = Products(loops->gemm, rows, depth, numbers, b, 1);
        for (const Fetching fetching : {Fetching::kNear, Fetching::kFar, Fetching::kOwn}) {
          EXPECT_EQ(single,
                    Products(loops->gemm, rows, depth, numbers, b, loops->gemm.panels, fetching));
        }
        for (const int count : {2, kTestedPanels}) {
          EXPECT_EQ(single, Products(loops->gemm, rows, depth, numbers, b,
                                     PanelsAtOnce(loops->gemm, rows, count)));
        }
        for (std::int64_t i = 0; i < kTestedPanels * rows * kPanel; ++i) {
          const std::int64_t panel = i / kPanel / rows;
          double wanted = 0.25;
          for (std::int64_t k = 0; k < depth; ++k) {
            wanted += double{numbers[static_cast<std::size_t>(i / kPanel % rows * depth + k)]} *
                      b[static_cast<std::size_t>((panel * depth + k) * kPanel + i % kPanel)];
          }
          ASSERT_NEAR(single[static_cast<std::size_t>(i)], wanted, 1e-4) << i;
        }
      }
    }
  }
}

constexpr std::int64_t kWholeColumns = kTestedPanels * kPanel;
constexpr std::int64_t kWholeRow = kWholeColumns + 3;

/// The same as columns of a matrix with rows of kWholeRow numbers, -1 before; `bias` and
/// `residual`, which lies as the matrix does, are null or added.
std::vector<float> ProductsInPlace(const GemmMicroKernels& kernels, int rows, std::int64_t depth,
                                   const std::vector<float>& a, const std::vector<float>& b,
                                   int count, const float* bias, const float* residual) {
  std::vector<float> results(static_cast<std::size_t>(rows * kWholeRow), -1);
  for (int p = 0; p < kTestedPanels; p += count) {
    const float* const first = b.data() + p * depth * kPanel;
    const std::int64_t column = p * kPanel;
    kernels.row_major_f32(rows, a.data(), depth, {first, depth * kPanel, count}, depth,
                          {first, kPanel, Fetching::kOwn},
                          {.first = results.data() + column,
                           .stride = kPanel,
                           .row_stride = kWholeRow,
                           .bias = bias == nullptr ? nullptr : bias + column,
                           .residual = residual == nullptr ? nullptr : residual + column},
                          false);
  }
  return results;
}

TEST(GemmMicroKernels, ProductsAreStoredWhereTheyBelongWithBiasAndResidual) {
  const std::vector<float> numbers = ThousandNumbers();
  constexpr std::int64_t kDepth = 5;
  const std::vector<float> b(numbers.begin() + 60, numbers.end());
  for (const InnerLoops* loops : AllInnerLoops()) {
    for (int rows = 1; rows <= loops->gemm.rows; ++rows) {
      for (unsigned operands = 0; operands < 4; ++operands) {
        SCOPED_TRACE(loops->instruction_set + std::to_string(rows) + " " +
                     std::to_string(operands));
        const float* const bias = (operands & 1) != 0 ? numbers.data() + 11 : nullptr;
        const float* const residual = (operands & 2) != 0 ? numbers.data() + 123 : nullptr;
        const auto single =
            ProductsInPlace(loops->gemm, rows, kDepth, numbers, b, 1, bias, residual);
        for (const int count : {2, kTestedPanels}) {
          EXPECT_EQ(single,
                    ProductsInPlace(loops->gemm, rows, kDepth, numbers, b,
                                    PanelsAtOnce(loops->gemm, rows, count), bias, residual));
        }
        for (std::int64_t i = 0; i < rows * kWholeRow; ++i) {
          const std::int64_t row = i / kWholeRow;
          const std::int64_t column = i % kWholeRow;
          double wanted = -1;
          if (column < kWholeColumns) {
            wanted = bias == nullptr ? 0 : bias[column];
            if (residual != nullptr) wanted += residual[i];
            for (std::int64_t k = 0; k < kDepth; ++k) {
              wanted += double{numbers[static_cast<std::size_t>(row * kDepth + k)]} *
                        b[static_cast<std::size_t>((column / kPanel * kDepth + k) * kPanel +
                                                   column % kPanel)];
            }
          }
          ASSERT_NEAR(single[static_cast<std::size_t>(i)], wanted, 1e-4) << i;
        }
      }
    }
  }
}

TEST(PanelsAtOnce, FewRowsHaveMoreOfThemAndRestsAreHalved) {
  GemmMicroKernels kernels = PortableInnerLoops().gemm;
  kernels.panels = 2;
  EXPECT_EQ(PanelsAtOnce(kernels, 6, 9), 4);
  EXPECT_EQ(PanelsAtOnce(kernels, 6, 3), 2);
  EXPECT_EQ(PanelsAtOnce(kernels, 6, 1), 1);
  EXPECT_EQ(PanelsAtOnce(kernels, 7, 9), 2);
}

TEST(RowTiles, CoverAllRowsWithoutNarrowTilesWherePossible) {
  for (std::int64_t rows = 0; rows <= 300; ++rows) {
    const RowTiles tiles(rows);
    EXPECT_EQ(tiles.begin(0), 0);
    EXPECT_EQ(tiles.begin(tiles.count()), rows);
    for (std::int64_t t = 0; t < tiles.count(); ++t) {
      EXPECT_GE(tiles.size(t), rows == 7 ? 3 : std::min<std::int64_t>(rows, 4)) << rows;
      EXPECT_LE(tiles.size(t), kTileRows) << rows;
    }
  }
  EXPECT_EQ(RowTiles(128).count(), 22);
}

TEST(RegisterTiles, HaveFewRowsOnlyWhereAllProcessorsHaveThem) {
  for (std::int64_t rows = 0; rows <= 300; ++rows) {
    for (const std::int64_t largest : {kTileRows, kMostTileRows}) {
      SCOPED_TRACE(std::to_string(rows) + " by " + std::to_string(largest));
      const RegisterTiles tiles(rows, largest);
      EXPECT_EQ(tiles.begin(0), 0);
      EXPECT_EQ(tiles.begin(tiles.count()), rows);
      for (std::int64_t t = 0; t < tiles.count(); ++t) {
        EXPECT_EQ(tiles.size(t), tiles.begin(t + 1) - tiles.begin(t));
        EXPECT_GE(tiles.size(t), rows == 7 ? 3 : std::min<std::int64_t>(rows, 4));
        EXPECT_LE(tiles.size(t), largest);
      }
    }
  }
  for (const InnerLoops* loops : AllInnerLoops()) {
    EXPECT_LE(loops->gemm.rows, kMostTileRows);
    EXPECT_LE(loops->conv.pixels, kMostTilePixels);
  }
  EXPECT_EQ(RegisterTiles(128, 8).count(), 16);
  EXPECT_EQ(RegisterTiles(7, 8).size(0), RegisterTiles(7, 6).size(0));
}

}  // namespace
}  // namespace poprt::kernels::testing
