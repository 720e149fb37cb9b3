#include "tests/conformance/runner/compare.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace poprt::conformance {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

Tensor Vector(const std::vector<float>& values) {
  return Tensor::Of<float>(ElementType::kFloat32, {static_cast<std::int64_t>(values.size())},
                           values);
}

TEST(Difference, IsNoneWithinTheTolerance) {
  EXPECT_EQ(Difference(Vector({1000.9F, kNan, kInfinity}), Vector({1000, kNan, kInfinity}), {}),
            "");
}

TEST(Difference, CountsElementsAndShowsTheFirst) {
  EXPECT_EQ(Difference(Vector({1, 3, 5}), Vector({1, 2, 4}), {}),
            "2 of 3 elements differ; element 1 is 3, expected 2");
}

TEST(Difference, InfinitiesAndNansEqualOnlyThemselves) {
  EXPECT_NE(Difference(Vector({kInfinity}), Vector({-kInfinity}), {}), "");
  EXPECT_NE(Difference(Vector({0}), Vector({kNan}), {}), "");
  EXPECT_NE(Difference(Vector({kNan}), Vector({0}), {}), "");
}

TEST(Difference, IntegersHaveNoTolerance) {
  const auto integer = [](std::int32_t value) { return Tensor({ElementType::kInt32, {}}, &value); };
  EXPECT_EQ(Difference(integer(1000000), integer(1000000), {}), "");
  EXPECT_NE(Difference(integer(1000000), integer(1000001), {}), "");
}

TEST(Difference, NansOfEightBitsAreEqualWhateverTheirBits) {
  const auto bytes = [](ElementType element, const std::vector<std::uint8_t>& codes) {
    return Tensor({element, {static_cast<std::int64_t>(codes.size())}}, codes.data());
  };
  const auto e5m2 = ElementType::kFloat8E5M2;
  EXPECT_EQ(Difference(bytes(e5m2, {0x3C, 0x7F, 0xFE}), bytes(e5m2, {0x3C, 0x7E, 0x7D}), {}), "");
  EXPECT_NE(Difference(bytes(e5m2, {0x7C}), bytes(e5m2, {0x7E}), {}), "");
  EXPECT_EQ(Difference(bytes(e5m2, {0x80, 0x7F}), bytes(e5m2, {0x00, 0x7E}), {}),
            "has other bytes");
  const auto e4m3 = ElementType::kFloat8E4M3FN;
  EXPECT_EQ(Difference(bytes(e4m3, {0xFF}), bytes(e4m3, {0x7F}), {}), "");
}

TEST(Difference, TypesMustBeEqual) {
  EXPECT_EQ(Difference(Vector({1}), Vector({1, 1}), {}), "is float32[1], expected float32[2]");
}

}  // namespace
}  // namespace poprt::conformance
