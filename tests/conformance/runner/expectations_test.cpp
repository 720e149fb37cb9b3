#include "tests/conformance/runner/expectations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace poprt::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string FileWith(const std::string& text) {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  const std::string path = ::testing::TempDir() + test->name() + ".txt";
  std::ofstream(path) << text;
  return path;
}

CaseResult Result(const std::string& name, Verdict solo, Verdict folded) {
  CaseResult result;
  result.name = name;
  result.in(Mode::kSolo) = {.verdict = solo, .reason = "why"};
  result.in(Mode::kFolded) = {.verdict = folded, .reason = "why"};
  return result;
}

TEST(Expectations, BothKindsOfSurpriseAreReported) {
  const auto expected = Expectations::Read({FileWith("solo node/a* is random # comment\n")});
  ASSERT_TRUE(expected.ok()) << expected.status();
  EXPECT_THAT(expected->Surprises({Result("node/a1", Verdict::kFailed, Verdict::kPassed),
                                   Result("node/a2", Verdict::kPassed, Verdict::kPassed),
                                   Result("node/b", Verdict::kNotRun, Verdict::kNotSupported)}),
              ElementsAre("node/a2 (solo) passes, but is listed as failing: is random",
                          "node/b (folded) not supported: why"));
}

TEST(Expectations, TolerancesByCase) {
  const auto expected = Expectations::Read({FileWith("tolerance 0.5 0.25 node/x noise\n")});
  ASSERT_TRUE(expected.ok()) << expected.status();
  EXPECT_EQ(expected->ToleranceOf("node/x").rtol, 0.5);
  EXPECT_EQ(expected->ToleranceOf("node/x").atol, 0.25);
  EXPECT_EQ(expected->ToleranceOf("node/y").rtol, Tolerance().rtol);
}

TEST(Expectations, EveryWrongLineIsNamed) {
  const auto expected = Expectations::Read(
      {FileWith("solo node/a\n\nalone node/b because\ntolerance x 1 node/c noise\n")});
  const std::string message(expected.status().message());
  EXPECT_THAT(message, HasSubstr(":1: expected: MODE CASE REASON"));
  EXPECT_THAT(message, HasSubstr(":3: 'alone' is no mode; allowed are solo, folded, fused, all"));
  EXPECT_THAT(message, HasSubstr(":4: expected: tolerance RTOL ATOL CASE REASON"));
}

}  // namespace
}  // namespace poprt::conformance
