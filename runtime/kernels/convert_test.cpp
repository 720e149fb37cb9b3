#include "runtime/kernels/convert.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <vector>

#include "runtime/kernels/kernel_test_index.hpp"

namespace poprt::kernels {
namespace {

std::vector<std::uint16_t> Narrowed(const std::vector<float>& values) {
  std::vector<std::uint16_t> halves(values.size() + 1, 0x1234);
  const Converter narrow(ElementType::kFloat32, ElementType::kFloat16);
  narrow(reinterpret_cast<const std::byte*>(values.data()),
         reinterpret_cast<std::byte*>(halves.data()), static_cast<std::int64_t>(values.size()));
  EXPECT_EQ(halves.back(), 0x1234) << "written behind the end";
  halves.pop_back();
  return halves;
}

/// Every float16 number, the floats next to it and to the middle of it and the next one.
TEST(ConverterTest, FloatsRoundToFloat16AtEveryBoundary) {
  std::vector<float> values;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto here = static_cast<float>(Float16::FromBits(static_cast<std::uint16_t>(bits)));
    const auto word = std::bit_cast<std::uint32_t>(here);
    for (const std::uint32_t step : {0U, 0x0FFFU, 0x1000U, 0x1001U, 0x1FFFU}) {
      values.push_back(std::bit_cast<float>(word + step));
    }
  }
  const std::vector<std::uint16_t> found = Narrowed(values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(found[i], Float16(values[i]).bits) << std::bit_cast<std::uint32_t>(values[i]);
  }
}

TEST(ConverterTest, AnyFloatsOfAnyCountBecomeFloat16) {
  testing::ForSeeds(50, [](std::mt19937& random) {
    std::vector<float> values(random() % 40);
    for (float& value : values) {
      value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    }
    const std::vector<std::uint16_t> found = Narrowed(values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(found[i], Float16(values[i]).bits) << std::bit_cast<std::uint32_t>(values[i]);
    }
  });
}

}  // namespace
}  // namespace poprt::kernels
