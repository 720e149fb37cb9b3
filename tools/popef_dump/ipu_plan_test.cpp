#include "tools/popef_dump/ipu_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tools/popef_dump/dump_fixture.hpp"

namespace poprt::dump {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class IpuPlanTest : public testing::DumpTest {
 protected:
  /// A container whose plan has that content.
  std::string WritePlan(const std::string& content) const {
    testing::Blobs blobs;
    blobs.note_name = "poprt.ipu_plan";
    blobs.note = content;
    return Write("a.popef", blobs);
  }
};

TEST_F(IpuPlanTest, ShowsTheSummaryLineByLineEscaped) {
  const std::string path =
      WritePlan(R"({"schema": 1, "summary": "Target:\n  Tiles: 4\n\nGraph \u001b[2J\n"})");
  ASSERT_EQ(Run({"--plan", path}), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("\nPlan for the IPU of executable exe:\n"
                              "    Target:\n"
                              "      Tiles: 4\n"
                              "\n"
                              "    Graph \\x1B[2J\n"));
  ASSERT_EQ(Run({path}), 0);
  EXPECT_THAT(out_, ::testing::Not(HasSubstr("Tiles: 4")));
}

TEST_F(IpuPlanTest, JsonHoldsThePlan) {
  const std::string path = WritePlan(R"({"schema": 1, "summary": "", "target": {"tiles": 4}})");
  ASSERT_EQ(Run({"--plan", "--json", path}), 0) << err_;
  const auto document = nlohmann::json::parse(out_);
  EXPECT_EQ(document["files"][0]["opaques"][1]["plan"]["target"]["tiles"], 4);
}

TEST_F(IpuPlanTest, DamagedPlansAreReportedAndTheRestIsShown) {
  for (const auto& [content, reason] :
       {std::pair{"{", "it is no JSON object"}, std::pair{"[1]", "it is no JSON object"},
        std::pair{R"({"schema": 2})", "this tool reads \"schema\" 1 only"},
        std::pair{R"({"schema": "1"})", "this tool reads \"schema\" 1 only"},
        std::pair{R"({"schema": 1, "summary": 3})", "it has no text \"summary\""}}) {
    EXPECT_EQ(Run({"--plan", WritePlan(content)}), 1);
    EXPECT_THAT(err_, HasSubstr(std::string("not a plan for the IPU: ") + reason));
    EXPECT_THAT(out_, StartsWith("PopEF file: "));
  }
}

}  // namespace
}  // namespace poprt::dump
