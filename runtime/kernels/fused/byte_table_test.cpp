#include "runtime/kernels/fused/byte_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "runtime/kernels/kernel_test_index.hpp"

namespace poprt::kernels {
namespace {

TEST(ByteTableTest, LooksUpEveryByteWhereItIsToo) {
  testing::ForSeeds(20, [](std::mt19937& random) {
    ByteTable table;
    for (std::uint8_t& result : table) result = static_cast<std::uint8_t>(random());
    std::vector<std::uint8_t> x(static_cast<std::size_t>(testing::Draw(random, 0, 700)));
    for (std::uint8_t& byte : x) byte = static_cast<std::uint8_t>(random());
    std::vector<std::uint8_t> wanted(x.size());
    std::ranges::transform(x, wanted.begin(), [&](std::uint8_t byte) { return table[byte]; });
    const auto count = static_cast<std::int64_t>(x.size());
    for (const InstructionSet set : SupportedInstructionSets()) {
      SCOPED_TRACE(NameOf(set));
      // One more, which stays.
      std::vector<std::uint8_t> y(x.size() + 1, 7);
      LookUpBytes(set, table, x.data(), count, y.data());
      EXPECT_EQ(y.back(), 7);
      y.pop_back();
      EXPECT_EQ(y, wanted);
      std::vector<std::uint8_t> in_place = x;
      LookUpBytes(set, table, in_place.data(), count, in_place.data());
      EXPECT_EQ(in_place, wanted);
    }
  });
}

}  // namespace
}  // namespace poprt::kernels
