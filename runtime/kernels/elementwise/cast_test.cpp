#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "runtime/kernels/convert.hpp"
#include "runtime/kernels/kernel_test_tensors.hpp"

namespace poprt::kernels::testing {
namespace {

constexpr std::array<ElementType, 13> kTypes{
    ElementType::kFloat32, ElementType::kFloat64, ElementType::kFloat16, ElementType::kBFloat16,
    ElementType::kInt8,    ElementType::kInt16,   ElementType::kInt32,   ElementType::kInt64,
    ElementType::kUint8,   ElementType::kUint16,  ElementType::kUint32,  ElementType::kUint64,
    ElementType::kBool};

TEST(CastTest, SmallValuesSurviveBetweenAllTypes) {
  const Values values{0, 1, 2, 3, 100, 101, 127, 64, 5, 7};
  for (const ElementType from : kTypes) {
    for (const ElementType to : kTypes) {
      SCOPED_TRACE(std::string(ElementName(from)) + " to " + std::string(ElementName(to)));
      const Tensor input = FromValues(from, {2, 5}, values);
      Values wanted = ToValues(input);
      if (to == ElementType::kBool) {
        for (double& value : wanted) value = value != 0 ? 1 : 0;
      }
      EXPECT_EQ(ToValues(Run1("Cast", {input}, {to, {2, 5}})), wanted);
    }
  }
}

TEST(CastTest, LongTensorsAndEmptyOnes) {
  Values values(40000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i % 200) - 100;
  const auto count = static_cast<std::int64_t>(values.size());
  const Tensor halves = FromValues(ElementType::kFloat16, {count}, values);
  EXPECT_EQ(ToValues(Run1("Cast", {halves}, {ElementType::kInt8, {count}})), values);
  const Tensor bytes = FromValues(ElementType::kInt8, {count}, values);
  EXPECT_EQ(ToValues(Run1("Cast", {bytes}, {ElementType::kBFloat16, {count}})), values);
  EXPECT_EQ(Run1("Cast", {FromValues(ElementType::kInt8, {0, 3}, {})}, {ElementType::kBool, {0, 3}})
                .count(),
            0);
}

TEST(CastTest, FloatToIntegerTruncatesAndIsDefinedOutOfRange) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Values values{1.9, -1.9, 3e9, -3e9, 300, nan, inf, 1e19};
  const auto cast = [&](ElementType from, ElementType to) {
    return ToValues(Run1("Cast", {FromValues(from, {8}, values)}, {to, {8}}));
  };
  for (const ElementType from : {ElementType::kFloat32, ElementType::kFloat64}) {
    EXPECT_EQ(cast(from, ElementType::kInt32),
              (Values{1, -1, -0x1p31, -0x1p31, 300, -0x1p31, -0x1p31, -0x1p31}));
    EXPECT_EQ(cast(from, ElementType::kInt8), (Values{1, -1, 0, 0, 44, 0, 0, 0}));
    EXPECT_EQ(cast(from, ElementType::kUint8), (Values{1, 255, 0, 0, 44, 0, 0, 0}));
    EXPECT_EQ(cast(from, ElementType::kUint32),
              (Values{1, 4294967295, 3e9, 1294967296, 300, 0, 0, 0}));
    EXPECT_EQ(cast(from, ElementType::kInt64),
              (Values{1, -1, 3e9, -3e9, 300, -0x1p63, -0x1p63, -0x1p63}));
    EXPECT_EQ(cast(from, ElementType::kUint64)[6], 0x1p63);
    EXPECT_NEAR(cast(from, ElementType::kUint64)[7], 1e19, 1e12);
    EXPECT_EQ(cast(from, ElementType::kBool), (Values{1, 1, 1, 1, 1, 1, 1, 1}));
  }
}

TEST(CastTest, HalvesAreRoundedOnce) {
  // Just above the middle between two halves: through float the excess would be lost.
  const double f16 = 1 + 0x1p-11 + 0x1p-40;
  EXPECT_EQ(ToValues(Run1("Cast", {FromValues(ElementType::kFloat64, {2}, {f16, -f16})},
                          {ElementType::kFloat16, {2}})),
            (Values{1 + 0x1p-10, -1 - 0x1p-10}));
  Tensor integers({ElementType::kInt64, {2}});
  integers.as_mutable<std::int64_t>()[0] = (std::int64_t{0x101} << 54) + 1;
  integers.as_mutable<std::int64_t>()[1] = -integers.as<std::int64_t>()[0];
  EXPECT_EQ(ToValues(Run1("Cast", {integers}, {ElementType::kBFloat16, {2}})),
            (Values{0x102p54, -0x102p54}));
  EXPECT_EQ(ToValues(Run1("Cast", {FromValues(ElementType::kFloat64, {3}, {65519, 65520, 1e300})},
                          {ElementType::kFloat16, {3}})),
            (Values{65504, std::numeric_limits<double>::infinity(),
                    std::numeric_limits<double>::infinity()}));
}

TEST(CastTest, EveryFloat16ConvertsAsItsClassDoes) {
  Tensor all({ElementType::kFloat16, {65536}});
  for (std::size_t i = 0; i < 65536; ++i) {
    all.as_mutable<Float16>()[i] = Float16::FromBits(static_cast<std::uint16_t>(i));
  }
  const Tensor floats = Run1("Cast", {all}, {ElementType::kFloat32, {65536}});
  for (std::size_t i = 0; i < 65536; ++i) {
    const auto wanted = static_cast<float>(all.as<Float16>()[i]);
    ASSERT_EQ(std::bit_cast<std::uint32_t>(floats.as<float>()[i]),
              std::bit_cast<std::uint32_t>(wanted))
        << i;
  }
}

TEST(CastTest, BindErrors) {
  EXPECT_EQ(BindError("Cast", {{ElementType::kFloat32, {2}}}, {{ElementType::kInt8, {3}}}),
            "output 0 is int8[3], expected int8[2]");
  EXPECT_EQ(BindError("Cast", {}, {{ElementType::kInt8, {3}}}), "has 0 inputs, allowed are 1 to 1");
}

}  // namespace
}  // namespace poprt::kernels::testing
