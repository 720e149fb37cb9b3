#include "compiler/ipu/report/number_format.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace poprt::ipu {
namespace {

TEST(NumberFormat, GroupsThreeDigits) {
  EXPECT_EQ(Grouped(0), "0");
  EXPECT_EQ(Grouped(999), "999");
  EXPECT_EQ(Grouped(1472), "1,472");
  EXPECT_EQ(Grouped(940'572'672), "940,572,672");
  EXPECT_EQ(Grouped(std::numeric_limits<std::uint64_t>::max()), "18,446,744,073,709,551,615");
}

TEST(NumberFormat, GroupsBeforeThePoint) {
  EXPECT_EQ(GroupedFixed(1850, 1), "1,850.0");
  EXPECT_EQ(GroupedFixed(0.04, 1), "0.0");
  EXPECT_EQ(GroupedFixed(1234567.6, 0), "1,234,568");
}

TEST(NumberFormat, WritesZeroForWhatIsNoAmount) {
  EXPECT_EQ(GroupedFixed(-3, 1), "0.0");
  EXPECT_EQ(GroupedFixed(std::nan(""), 1), "0.0");
  EXPECT_EQ(GroupedFixed(std::numeric_limits<double>::infinity(), 1), "0.0");
}

TEST(NumberFormat, WritesPercent) {
  EXPECT_EQ(Percent(1, 8), "12.5%");
  EXPECT_EQ(Percent(1, 0), "0.0%");
}

TEST(NumberFormat, KeepsNamesToOneLine) {
  EXPECT_EQ(OneLine("/layer.0/MatMul"), "/layer.0/MatMul");
  EXPECT_EQ(OneLine("a\nOut of memory on tile 3: 1 bytes"),
            "a\\x0AOut of memory on tile 3: 1 bytes");
  EXPECT_EQ(OneLine("\x1b[31m\x7f"), "\\x1B[31m\\x7F");
  EXPECT_EQ(OneLine("Größe 模型"), "Größe 模型");
  EXPECT_EQ(OneLine("a\xC2\x85z"), "a\\xC2\\x85z");
  EXPECT_EQ(OneLine("a\xE2\x80\xA8z"), "a\\xE2\\x80\\xA8z");
  EXPECT_EQ(OneLine("cut \xE2\x80"), "cut \\xE2\\x80");
  EXPECT_EQ(OneLine("\xFF"), "\\xFF");
}

}  // namespace
}  // namespace poprt::ipu
