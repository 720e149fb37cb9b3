#include "runtime/kernels/blocked/pack_winograd.hpp"

#include <algorithm>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/kernels/kernel.hpp"
#include "runtime/tensor/half.hpp"

namespace poprt::kernels {
namespace {

using ::testing::Each;
using ::testing::FloatEq;
using ::testing::HasSubstr;

/// Filters [outs, channels, 3, 3] whose only tap is the middle one: 1, 2, 3, ...
Tensor MiddleTaps(std::int64_t outs, std::int64_t channels, ElementType element) {
  Tensor w({element, {outs, channels, 3, 3}});
  for (std::int64_t i = 0; i < outs * channels; ++i) {
    const auto at = static_cast<std::size_t>(i * 9 + 4);
    if (element == ElementType::kFloat32) {
      w.as_mutable<float>()[at] = static_cast<float>(i + 1);
    } else {
      w.as_mutable<Float16>()[at] = Float16(static_cast<float>(i + 1));
    }
  }
  return w;
}

TEST(PackWinogradWeights, TransformsFiltersForTilesOfTwo) {
  Tensor w({ElementType::kFloat32, {1, 1, 3, 3}});
  const float taps[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  std::copy_n(taps, 9, w.as_mutable<float>().data());
  const Tensor packed = PackWinogradWeights(w, 2);
  EXPECT_EQ(packed.type(), (TensorType{ElementType::kFloat32, {1, 16, 1, 16}}));
  // G g G^T with the rows (-1, 0, 0), (1/2, 1/2, 1/2), (1/2, -1/2, 1/2), (0, 0, 1) of G.
  const float transformed[] = {1,  -3,    -1,    -3, -6, 11.25F, 3.75F, 9,
                               -2, 3.75F, 1.25F, 3,  -7, 12,     4,     9};
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(packed.as<float>()[i * 16], transformed[i]) << "element " << i;
    EXPECT_THAT(packed.as<float>().subspan(i * 16 + 1, 15), Each(0.0F));
  }
}

TEST(PackWinogradWeights, TransformsFiltersForTilesOfFour) {
  const Tensor packed = PackWinogradWeights(MiddleTaps(1, 1, ElementType::kFloat32), 4);
  EXPECT_EQ(packed.type(), (TensorType{ElementType::kFloat32, {1, 36, 1, 16}}));
  // The middle column of G at the points 0, 3/4, -3/4, 3/2, -3/2 and infinity.
  const float middle[] = {0, -32.0F / 81, 32.0F / 81, 16.0F / 81, -16.0F / 81, 0};
  for (std::size_t row = 0; row < 6; ++row) {
    for (std::size_t column = 0; column < 6; ++column) {
      EXPECT_THAT(packed.as<float>()[(row * 6 + column) * 16],
                  FloatEq(middle[row] * middle[column]));
    }
  }
}

TEST(PackWinogradWeights, OrdersByBlockThenElementThenInputChannel) {
  for (const ElementType element : {ElementType::kFloat32, ElementType::kFloat16}) {
    const Tensor packed = PackWinogradWeights(MiddleTaps(18, 2, element), 2);
    EXPECT_EQ(packed.type(), PackedWinogradType(18, 2, {3, 3}, 2));
    EXPECT_EQ(packed.shape(), (Shape{2, 16, 2, 16}));
    // Element 5 of a filter with only the middle tap is a quarter of it.
    const auto values = packed.as<float>();
    const std::size_t element5 = 5 * 2 * 16;
    EXPECT_EQ(values[element5], 0.25F);
    EXPECT_EQ(values[element5 + 1], 0.75F);
    EXPECT_EQ(values[element5 + 16], 0.5F);
    const std::size_t block1 = 16 * 2 * 16;
    EXPECT_EQ(values[block1 + element5], 33 / 4.0F);
    EXPECT_EQ(values[block1 + element5 + 1], 35 / 4.0F);
    EXPECT_EQ(values[block1 + element5 + 2], 0.0F);
  }
}

/// Element `element` of part `part` of the only filter of an input channel.
float ElementOf(const Tensor& packed, std::int64_t channels, std::int64_t element,
                std::int64_t part) {
  const std::int64_t parts = packed.shape()[2] / channels;
  return packed.as<float>()[static_cast<std::size_t>((element * parts + part) * channels * 16)];
}

TEST(PackWinogradWeights, LongFiltersAreCutIntoPartsOfThreeTaps) {
  // Each row of taps alone is the transform at infinity of its last tap, element 5.
  Tensor w({ElementType::kFloat32, {1, 1, 2, 5}});
  const float taps[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  std::copy_n(taps, 10, w.as_mutable<float>().data());
  const Tensor packed = PackWinogradWeights(w, 4);
  EXPECT_EQ(packed.type(), (TensorType{ElementType::kFloat32, {1, 6, 4, 16}}));
  constexpr std::int64_t kInfinity = 5;
  const float last_taps[] = {3, 0, 8, 0};
  for (std::int64_t part = 0; part < 4; ++part) {
    EXPECT_EQ(ElementOf(packed, 1, kInfinity, part), last_taps[part]);
  }
  // At zero there is what the first taps contribute, over the product of the other points.
  const float first_taps[] = {1, 4, 6, 9};
  for (std::int64_t part = 0; part < 4; ++part) {
    EXPECT_FLOAT_EQ(ElementOf(packed, 1, 0, part), first_taps[part] * 64 / 81);
  }
}

TEST(PackWinogradWeights, FiltersOfColumnsAreTransformedDownwards) {
  Tensor w({ElementType::kFloat32, {1, 2, 3, 1}});
  const float taps[] = {1, 2, 3, 4, 5, 6};
  std::copy_n(taps, 6, w.as_mutable<float>().data());
  const Tensor packed = PackWinogradWeights(w, 4);
  EXPECT_EQ(packed.type(), (TensorType{ElementType::kFloat32, {1, 6, 2, 16}}));
  EXPECT_EQ(packed.as<float>()[std::size_t{5} * 2 * 16], 3);
  EXPECT_EQ(packed.as<float>()[std::size_t{5} * 2 * 16 + 16], 6);
}

TEST(PackWinogradWeights, RejectsOtherTilesAndFilters) {
  EXPECT_THROW(PackedWinogradType(16, 16, {3, 3}, 3), KernelError);
  EXPECT_THROW(PackedWinogradType(0, 16, {3, 3}, 2), KernelError);
  EXPECT_THROW(PackedWinogradType(16, 16, {1, 3}, 2), KernelError);
  EXPECT_THROW(PackedWinogradType(16, 16, {2, 2}, 4), KernelError);
  EXPECT_THROW(PackedWinogradType(16, 16, {0, 3}, 4), KernelError);
  EXPECT_THROW(PackedWinogradType(16, 16, {3, 1 << 13}, 4), KernelError);
  EXPECT_THROW(PackedWinogradType(16, std::int64_t{1} << 62, {5, 5}, 4), KernelError);
  const auto message = [](const Tensor& w, std::int64_t tile) -> std::string {
    try {
      PackWinogradWeights(w, tile);
    } catch (const KernelError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message(MiddleTaps(1, 1, ElementType::kFloat32), 6),
            "attribute tile is 6, allowed are 2 and 4");
  EXPECT_THAT(message(Tensor({ElementType::kFloat32, {1, 1, 3}}), 2),
              HasSubstr("float32[1, 1, 3] cannot be transformed"));
  EXPECT_THAT(message(Tensor({ElementType::kFloat32, {1, 1, 3, 2}}), 2),
              HasSubstr("of at least 3 along both"));
  EXPECT_THAT(message(Tensor({ElementType::kInt32, {1, 1, 3, 3}}), 2),
              HasSubstr("int32[1, 1, 3, 3] cannot be transformed"));
}

}  // namespace
}  // namespace poprt::kernels
