#include "poprt/logging.hpp"

#include <gtest/gtest.h>

namespace poprt::logging {
namespace {

TEST(LoggingTest, PutsValuesIntoTheirPlaces) {
  EXPECT_EQ(format("inputs.size() = {}", 3), "inputs.size() = 3");
  EXPECT_EQ(format("{} and {:.2f}, {}", "one", 2.5, std::string("three")), "one and 2.5, three");
  EXPECT_EQ(format("none"), "none");
  EXPECT_EQ(format("none", 1), "none");
  EXPECT_EQ(format("{} {}", 1), "1 {}");
  EXPECT_EQ(format("open {", 1), "open {");
}

TEST(LoggingTest, WritesErrorsUnlessToldOtherwise) {
  testing::internal::CaptureStderr();
  err("sum: {}", 7);
  info("not shown");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "[ERR] sum: 7\n");
}

}  // namespace
}  // namespace poprt::logging
