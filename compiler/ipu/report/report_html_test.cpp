#include "compiler/ipu/report/report_html.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "compiler/ipu/report/plan_fixture.hpp"
#include "compiler/ipu/report/report_json.hpp"

namespace poprt::ipu {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kDataElement = "<script type=\"application/json\" id=\"plan\">";

std::size_t CountOf(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

/// What a browser takes as the data: all up to the end of the element.
std::string DataOf(const std::string& page) {
  const std::size_t begin = page.find(kDataElement) + std::string(kDataElement).size();
  return page.substr(begin, page.find("</script", begin) - begin);
}

TEST(ReportHtml, HoldsTheDocumentOfReportJson) {
  const Plan plan = fixture::RealisticPlan(6, 64);
  EXPECT_EQ(nlohmann::json::parse(DataOf(ReportHtml(plan))),
            nlohmann::json::parse(CompactReportJson(plan)));
}

TEST(ReportHtml, NeedsNoNetwork) {
  const std::string page = ReportHtml(fixture::SmallPlan());
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, Not(HasSubstr(" src=")));
  EXPECT_THAT(page, Not(HasSubstr("<link")));
  EXPECT_THAT(page, Not(HasSubstr("@import")));
  // The only address is the name of a namespace.
  EXPECT_EQ(CountOf(page, "://"), 1U);
  EXPECT_THAT(page, HasSubstr("http://www.w3.org/2000/svg"));
}

TEST(ReportHtml, IsMadeOfAllItsParts) {
  const std::string page = ReportHtml(fixture::SmallPlan());
  EXPECT_THAT(page, HasSubstr("--phase-compute"));
  EXPECT_THAT(page, HasSubstr("prefers-color-scheme: dark"));
  EXPECT_THAT(page, HasSubstr("function drawPage()"));
  EXPECT_THAT(page, HasSubstr("class TileMap"));
  EXPECT_THAT(page, Not(HasSubstr("{{plan}}")));
  EXPECT_THAT(page, Not(HasSubstr("POPRT_REPORT")));
}

TEST(ReportHtml, NamesCannotLeaveTheData) {
  const std::string hostile =
      "</script><script>alert(1)</script><!-- \"'&amp;<img src=x onerror=alert(2)>";
  Plan plan = fixture::SmallPlan();
  plan.graphs[0].name = hostile;
  plan.graphs[0].notes = {hostile};
  plan.graphs[0].tensors[0].name = hostile;
  plan.graphs[0].operators[1].name = hostile;
  plan.graphs[0].operators[1].steps[1].name = hostile;
  plan.graphs[0].operators[1].steps[1].vertex = hostile;
  plan.partition_reason = hostile;
  const std::string page = ReportHtml(plan);
  const std::string harmless = ReportHtml(fixture::SmallPlan());
  EXPECT_EQ(CountOf(page, "<script"), CountOf(harmless, "<script"));
  EXPECT_EQ(CountOf(page, "</script"), CountOf(harmless, "</script"));
  EXPECT_EQ(CountOf(page, "<!--"), CountOf(harmless, "<!--"));
  EXPECT_THAT(DataOf(page), Not(HasSubstr("<")));
  EXPECT_EQ(nlohmann::json::parse(DataOf(page))["graphs"][0]["name"], hostile);
}

TEST(ReportHtml, NeverTakesTextAsMarkup) {
  const std::string page = ReportHtml(fixture::SmallPlan());
  for (const char* sink :
       {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("}) {
    EXPECT_THAT(page, Not(HasSubstr(sink)));
  }
}

}  // namespace
}  // namespace poprt::ipu
