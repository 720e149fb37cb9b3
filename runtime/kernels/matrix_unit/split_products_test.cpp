#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "runtime/kernels/inner_loops_testing.hpp"
#include "runtime/kernels/matrix_unit/matrix_unit.hpp"

namespace poprt::kernels::testing {
namespace {

class NoWork final : public SplitWork {
  void Before(std::int64_t /*end*/) override {}
  void Meanwhile() override {}
  void After(std::int64_t /*row*/, std::int64_t /*end*/) override {}
};

/// The products of 16 numbers with 16 others, as the unit computes them: the depth has one row.
struct Products {
  alignas(64) float sums[kSplitPair * kSplitGroup] = {};

  Products(const MatrixUnit& unit, const float* x, const float* y) {
    alignas(64) std::uint16_t a[2 * kSplitStepNumbers] = {};
    alignas(64) std::uint16_t b[kSplitStepNumbers] = {};
    alignas(64) float other[kSplitPair * kSplitGroup] = {};
    alignas(64) static constexpr float kNone[kSplitGroup] = {};
    for (std::int64_t first = 0; first < kSplitRows; first += kSplitAtOnce) {
      std::int32_t offsets[kSplitAtOnce];
      for (std::int32_t r = 0; r < kSplitAtOnce; ++r) offsets[r] = r;
      unit.split_rows({.first = {x + first, x},
                       .offsets = {offsets, offsets},
                       .lanes = {1, 0},
                       .rows = kSplitAtOnce},
                      a + first * kSplitStep);
    }
    NoWork work;
    SplitProduct product{};
    product.a = a;
    product.b = b;
    product.rows = kSplitRows;
    product.panels = 1;
    product.steps = 1;
    product.is_last = true;
    product.pair_sums[0] = sums;
    product.pair_sums[1] = other;
    product.start[0] = kNone;
    product.work = &work;
    unit.split_panel(PanelNumbers::kFloat, y, 1, b);
    unit.start(kSplitRows, kSplitGroup);
    unit.multiply(product);
    unit.stop();
  }

  double At(std::int64_t row, std::int64_t column) const {
    return sums[row * kSplitGroup + column];
  }
};

/// Of `bits` significant bits.
float RandomNumber(std::mt19937& random, int bits) {
  const auto significand = static_cast<double>((1U << (bits - 1)) | (random() >> (33 - bits)));
  const double sign = random() % 2 == 0 ? 1 : -1;
  return static_cast<float>(sign * std::ldexp(significand, static_cast<int>(random() % 20) - 30));
}

/// The largest and the mean error of products, relative to them.
struct Errors {
  double largest = 0;
  double mean = 0;
};
Errors ErrorsOf(const MatrixUnit& unit, int x_bits, int y_bits) {
  std::mt19937 random(1);
  Errors errors;
  constexpr int kTimes = 200;
  for (int i = 0; i < kTimes; ++i) {
    alignas(64) float x[kSplitRows];
    alignas(64) float y[kSplitGroup];
    for (float& number : x) number = RandomNumber(random, x_bits);
    for (float& number : y) number = RandomNumber(random, y_bits);
    const Products products(unit, x, y);
    for (std::int64_t row = 0; row < kSplitRows; ++row) {
      for (std::int64_t column = 0; column < kSplitGroup; ++column) {
        const double exact = double{x[row]} * double{y[column]};
        const double error = (products.At(row, column) - exact) / exact;
        errors.largest = std::max(errors.largest, std::abs(error));
        errors.mean += error / (kTimes * kSplitRows * kSplitGroup);
      }
    }
  }
  return errors;
}

/// The bounds that matrix_unit.hpp states.
TEST(SplitProducts, AreAsExactAsStated) {
  for (const InnerLoops* loops : AllInnerLoops()) {
    if (loops->matrix_unit == nullptr) continue;
    SCOPED_TRACE(loops->instruction_set);
    const Errors errors = ErrorsOf(*loops->matrix_unit, 24, 24);
    EXPECT_LT(errors.largest, std::exp2(-14.6));
    EXPECT_LT(std::abs(errors.mean), 0x1p-22);
    // Two parts hold 16 bits. All of a product of 8 bits by those is computed, and fits a float.
    EXPECT_EQ(ErrorsOf(*loops->matrix_unit, 8, 16).largest, 0);
    EXPECT_EQ(ErrorsOf(*loops->matrix_unit, 16, 8).largest, 0);
    // The product of the second parts is left out.
    EXPECT_LE(ErrorsOf(*loops->matrix_unit, 16, 16).largest, 0x1p-16);
  }
}

}  // namespace
}  // namespace poprt::kernels::testing
