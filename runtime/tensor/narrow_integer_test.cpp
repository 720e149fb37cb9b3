#include "runtime/tensor/narrow_integer.hpp"

#include <gtest/gtest.h>

#include "runtime/tensor/element_type.hpp"

namespace poprt {
namespace {

TEST(NarrowIntegerTest, KeepsTheLowBits) {
  for (std::int32_t value = -300; value <= 300; ++value) {
    SCOPED_TRACE(value);
    const std::int32_t four = ((value % 16) + 16) % 16;
    const std::int32_t two = ((value % 4) + 4) % 4;
    EXPECT_EQ(static_cast<std::int32_t>(Uint4(value)), four);
    EXPECT_EQ(static_cast<std::int32_t>(Int4(value)), four < 8 ? four : four - 16);
    EXPECT_EQ(static_cast<std::int32_t>(Uint2(value)), two);
    EXPECT_EQ(static_cast<std::int32_t>(Int2(value)), two < 2 ? two : two - 4);
  }
}

TEST(NarrowIntegerTest, BytesAreTheValue) {
  EXPECT_EQ(Int4(-3).bits, 0xFD);
  EXPECT_EQ(Int4(7).bits, 7);
  EXPECT_EQ(Uint4(-1).bits, 15);
  EXPECT_EQ(Int2(-1).bits, 0xFF);
  EXPECT_EQ(Int4::kLowest, -8);
  EXPECT_EQ(Int4::kHighest, 7);
  EXPECT_EQ(Uint2::kHighest, 3);
}

TEST(NarrowIntegerTest, AnyByteIsInRange) {
  Int4 value;
  value.bits = 0x5E;
  EXPECT_EQ(static_cast<std::int32_t>(value), -2);
  EXPECT_EQ(Int4::FromBits(0x5E).bits, 0xFE);
}

TEST(ElementTypeTest, NarrowTypes) {
  EXPECT_EQ(ElementSize(ElementType::kInt4), 1U);
  EXPECT_EQ(PackedBits(ElementType::kInt4), 4U);
  EXPECT_EQ(PackedBits(ElementType::kUint2), 2U);
  EXPECT_EQ(PackedBits(ElementType::kFloat8E8M0), 8U);
  EXPECT_EQ(PackedBits(ElementType::kFloat64), 64U);
  EXPECT_EQ(PackedBits(ElementType::kUndefined), 0U);
  EXPECT_EQ(ElementName(ElementType::kFloat4E2M1), "float4e2m1");
  EXPECT_EQ(ParseElementType("float8e5m2fnuz"), ElementType::kFloat8E5M2FNUZ);
  EXPECT_FALSE(IsFloat(ElementType::kFloat8E4M3FN));
  EXPECT_TRUE(IsNarrowFloat(ElementType::kFloat8E4M3FN));
  EXPECT_FALSE(IsInteger(ElementType::kInt4));
  EXPECT_TRUE(IsNarrowInteger(ElementType::kInt4));
}

}  // namespace
}  // namespace poprt
