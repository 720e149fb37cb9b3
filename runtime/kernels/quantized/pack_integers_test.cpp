#include "runtime/kernels/quantized/pack_integers.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "runtime/kernels/kernel.hpp"
#include "runtime/tensor/half.hpp"

namespace poprt::kernels {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

Tensor Floats(const Shape& shape, const std::vector<float>& values) {
  return Tensor({ElementType::kFloat32, shape}, values.data());
}

/// `multiples` of a scale for every `block` rows of one column.
Tensor ColumnOf(const std::vector<int>& multiples, std::size_t block) {
  std::vector<float> values(multiples.size());
  for (std::size_t k = 0; k < multiples.size(); ++k) {
    const std::size_t part = k / block;
    values[k] = static_cast<float>(multiples[k]) * (0.1F + 0.01F * static_cast<float>(part));
  }
  return Floats({static_cast<std::int64_t>(values.size()), 1}, values);
}

TEST(PackIntegersTest, BytesOfAColumnStandTogetherBehindTheirScales) {
  // 1, -128, 127 and -1, 2, 127 times their scales.
  const Tensor w = Floats({3, 2}, {0.25F, -3.0F, -32.0F, 6.0F, 31.75F, 381.0F});
  const IntegerForm form{.bits = 8, .block = 3};
  const Tensor packed = PackIntegers(w, false, form);
  ASSERT_EQ(packed.type(), (TensorType{ElementType::kUint8, {2, 64}}));
  const auto* scales = reinterpret_cast<const float*>(packed.data());
  EXPECT_EQ(scales[0], 0.25F);
  EXPECT_EQ(scales[1], 3.0F);
  EXPECT_EQ(scales[2], 0.0F);
  const auto* words = reinterpret_cast<const std::uint32_t*>(packed.data()) + 16;
  // The rows of a column from the lowest byte on, each plus 128.
  EXPECT_EQ(words[0], 0x00FF0081U);
  EXPECT_EQ(words[1], 0x00FF827FU);
  EXPECT_EQ(words[2], 0U);
}

TEST(PackIntegersTest, FourBitsOfEveryBlock) {
  std::vector<int> multiples(32);
  for (int k = 0; k < 32; ++k) multiples[static_cast<std::size_t>(k)] = k * 5 % 16 - 8;
  const Tensor w = ColumnOf(multiples, 16);
  const IntegerForm form{.bits = 4, .block = 16};
  EXPECT_EQ(IntegerFormOf(w, false), form);
  const Tensor packed = PackIntegers(w.WithType({ElementType::kFloat32, {1, 32}}), true, form);
  ASSERT_EQ(packed.type(), (TensorType{ElementType::kUint8, {6, 64}}));
  const auto* words = reinterpret_cast<const std::uint32_t*>(packed.data());
  // -8 -3 2 7 -4 1 6 -5 | 0 5 -6 -1 4 -7 -2 3, each plus 8
  EXPECT_EQ(words[16], 0x3E94FA50U);
  EXPECT_EQ(words[32], 0xB61C72D8U);
  EXPECT_EQ(reinterpret_cast<const float*>(words)[48], 0.1F + 0.01F);
}

TEST(PackIntegersTest, ScalesHaveMultiplesOfFourBitsWhereThereAreSuch) {
  // Beside columns that were quantised.
  const auto form_of = [](float a, float b) {
    std::vector<float> multiples{a, 7, 7, 7, 7, b, 6, 5, 4, 3};
    for (float& x : multiples) x *= 0.1F;
    return IntegerFormOf(Floats({2, 5}, multiples), false);
  };
  for (const auto& [a, b] : std::vector<std::pair<float, float>>{
           {6, -3}, {2, 1}, {-8, 7}, {0, 7}, {1, 0}, {-8, 0}, {4, 2}}) {
    EXPECT_EQ(form_of(a, b), (IntegerForm{.bits = 4, .block = 2})) << a << ' ' << b;
  }
  EXPECT_EQ(IntegerFormOf(Floats({2, 5}, {0.23F, 7, 7, 7, 7, 0, 6, 5, 4, 3}), false),
            (IntegerForm{.bits = 4, .block = 2}))
      << "one number, which is no multiple by 7 of another";
  EXPECT_EQ(form_of(9, 1), (IntegerForm{.bits = 8, .block = 2}));
}

TEST(PackIntegersTest, WhatSelectsCountsOrAveragesWasNotQuantised) {
  EXPECT_EQ(IntegerFormOf(Floats({3, 2}, {0, 1, 1, 0, 0, 0}), false), std::nullopt);
  EXPECT_EQ(IntegerFormOf(Floats({3, 2}, {-1, 1, 1, 0, 0.5, 0}), false), std::nullopt);
  EXPECT_EQ(IntegerFormOf(Floats({3, 1}, {0.25F, 0.25F, 0.25F}), false), std::nullopt);
}

TEST(PackIntegersTest, TheLargestBlockThatHasScales) {
  std::vector<int> multiples(64);
  for (int k = 0; k < 64; ++k) multiples[static_cast<std::size_t>(k)] = k * 37 % 255 - 127;
  const auto form_of = [&](std::size_t block) {
    return IntegerFormOf(ColumnOf(multiples, block), false);
  };
  EXPECT_EQ(form_of(64), (IntegerForm{.bits = 8, .block = 64}));
  EXPECT_EQ(form_of(32), (IntegerForm{.bits = 8, .block = 32}));
  EXPECT_EQ(form_of(16), (IntegerForm{.bits = 8, .block = 16}));
  EXPECT_EQ(form_of(5), std::nullopt);
  multiples.push_back(9);
  EXPECT_EQ(form_of(16), (IntegerForm{.bits = 8, .block = 16})) << "the last has fewer rows";
  multiples[40] = 128;
  EXPECT_EQ(form_of(32), std::nullopt);
}

TEST(PackIntegersTest, SixteenBitsAreMultiplesOfThePowerOfTwoThatTheirSumAllows) {
  // 64 rows and one more; of the second column all but one are zero.
  std::vector<float> values(65 * 2);
  for (std::size_t k = 0; k < 65; ++k) values[2 * k] = k % 2 == 0 ? 1.5F : -0.75F;
  values[3] = -0.375F;
  const IntegerForm form{.bits = 16, .block = 64};
  const Tensor packed = PackIntegers(Floats({65, 2}, values), false, form);
  constexpr std::int64_t kPowerLines = 5;
  ASSERT_EQ(packed.type(), (TensorType{ElementType::kUint8, {kPowerLines + 33 + 2, 64}}));
  // Of rows: 0.75^2 + 0.375^2 is the largest but for 1.5^2.
  const auto* powers = reinterpret_cast<const float*>(packed.data());
  EXPECT_EQ(powers[0], 1);
  EXPECT_EQ(powers[1], 0.3125F);
  EXPECT_EQ(powers[3], 0.25F);
  EXPECT_EQ(powers[64], 1);
  EXPECT_EQ(powers[65], 0);
  const auto* scales = powers + kPowerLines * 16;
  const auto* words = reinterpret_cast<const std::uint32_t*>(scales);
  // Magnitudes sum up to 72, and at most to 128; 1.5 and -0.75 are 1536 and -768 of 2^-10.
  EXPECT_EQ(scales[0], 0x1p-10F);
  EXPECT_EQ(words[16], 0xFD000600U);
  EXPECT_EQ(words[16 * 32], 0xFD000600U);
  // The largest magnitude has 15 bits.
  EXPECT_EQ(scales[1], 0x1p-16F);
  EXPECT_EQ(words[17], static_cast<std::uint32_t>(-0x6000) << 16);
  // The last block.
  EXPECT_EQ(scales[16 * 33], 0x1p-14F);
  EXPECT_EQ(words[16 * 34], 0x6000U);
}

TEST(PackIntegersTest, SixteenBitsAreForWhatWasRounded) {
  // Beside ones, which rounding keeps.
  const auto form_of = [](const std::vector<float>& column, float scale = 1) {
    std::vector<float> values;
    for (const float x : column) values.insert(values.end(), {x * scale, scale});
    return IntegerFormOf(Floats({static_cast<std::int64_t>(column.size()), 2}, values), false);
  };
  const IntegerForm wide{.bits = 16, .block = 7};
  const auto with = [](float x) {
    return std::vector<float>{1.5F, -0x1.668p-1F, 0x1.92p1F, 0x1.558p-9F, x, 0x1.FFCp-3F, 2};
  };
  EXPECT_EQ(form_of(with(0)), wide);
  EXPECT_EQ(form_of(with(0), 0x1p20F), wide) << "of bfloat16: too large for float16";
  EXPECT_EQ(form_of(with(0x1p-133F)), wide) << "the least of bfloat16";
  EXPECT_EQ(form_of(with(0x1.002p0F)), std::nullopt) << "twelve bits";
  EXPECT_EQ(form_of(with(kInfinity)), std::nullopt);
  EXPECT_EQ(form_of({0, 1.5F, -1.5F, 0x1.01p9F, 1, 1, 3}), std::nullopt) << "few magnitudes";
}

TEST(PackIntegersTest, SixteenBitsKeepEveryRow) {
  const auto form_of = [](float of_row) {
    Tensor halves({ElementType::kFloat16, {70, 3}});
    const auto values = halves.as_mutable<Float16>();
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = Float16(i / 3 == 5 ? of_row : 1 + static_cast<float>(i) / 256);
    }
    return IntegerFormOf(halves, false);
  };
  EXPECT_EQ(form_of(0x1.45p-4F), (IntegerForm{.bits = 16, .block = 64}));
  EXPECT_EQ(form_of(0x1.45p-9F), std::nullopt) << "much smaller than its neighbours";
  EXPECT_EQ(form_of(0x1.45p-6F), std::nullopt) << "what it loses is 2^-11 of all rows";
}

TEST(PackIntegersTest, NotAllWeightsAreBytes) {
  const auto has_scales = [](const std::vector<float>& column) {
    const auto depth = static_cast<std::int64_t>(column.size());
    return ByteScales(Floats({depth, 1}, column), false).has_value();
  };
  EXPECT_TRUE(has_scales({0, 0, 0}));
  EXPECT_TRUE(has_scales({0.1F, 0.1F * 7, 0.1F * 127}));
  EXPECT_TRUE(has_scales({-0.1F * 128, 0.1F}));
  EXPECT_FALSE(has_scales({0.1F * 128, 0.1F, 0.1F * 3}));
  EXPECT_FALSE(has_scales({0.1F, 0.7F, 0.100001F}));
  EXPECT_FALSE(has_scales({1, std::numeric_limits<float>::infinity()}));
  EXPECT_FALSE(has_scales({1, std::numeric_limits<float>::quiet_NaN()}));
}

TEST(PackIntegersTest, RefusesOtherForms) {
  const Tensor bytes = ColumnOf({1, -128, 127, 3}, 4);
  EXPECT_THROW(PackIntegers(bytes, false, {.bits = 4, .block = 4}), KernelError);
  EXPECT_THROW(PackIntegers(Floats({2, 1}, {1, 0.7071F}), false, {.bits = 8, .block = 2}),
               KernelError);
  EXPECT_THROW(PackedIntegersType(64, 1, {.bits = 3, .block = 64}), KernelError);
  EXPECT_THROW(PackedIntegersType(64, 1, {.bits = 4, .block = 12}), KernelError);
  EXPECT_THROW(PackedIntegersType(64, 1, {.bits = 4, .block = 72}), KernelError);
  EXPECT_THROW(PackedIntegersType(64, 1, {.bits = 4, .block = 0}), KernelError);
  EXPECT_THROW(PackedIntegersType(0, 1, {.bits = 4, .block = 0}), KernelError);
  EXPECT_THROW(PackedIntegersType(512, 1, {.bits = 16, .block = 128}), KernelError);
  for (const float extreme : {kInfinity, std::numeric_limits<float>::quiet_NaN()}) {
    EXPECT_THROW(PackIntegers(Floats({2, 1}, {1, extreme}), false, {.bits = 16, .block = 2}),
                 KernelError);
  }
  EXPECT_THROW(PackIntegers(Tensor({ElementType::kInt8, {2, 1}}), false, {.bits = 16, .block = 2}),
               KernelError);
}

}  // namespace
}  // namespace poprt::kernels
