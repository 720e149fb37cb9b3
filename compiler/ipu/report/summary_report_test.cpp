#include "compiler/ipu/report/summary_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "compiler/ipu/report/plan_fixture.hpp"

namespace poprt::ipu {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> LinesOf(const std::string& text) { return absl::StrSplit(text, '\n'); }

/// The line that starts with `label` after blanks, without those; "" if there is none.
std::string LineOf(const std::string& text, const std::string& label) {
  for (const std::string& line : LinesOf(text)) {
    const std::size_t start = std::min(line.find_first_not_of(' '), line.size());
    if (line.compare(start, label.size(), label) == 0) return line.substr(start);
  }
  return "";
}

TEST(SummaryReport, DescribesTheTarget) {
  const std::string text = SummaryReport(fixture::RealisticPlan(6, 64));
  EXPECT_THAT(text, HasSubstr("Target:\n"
                              "  Number of IPUs:         1\n"
                              "  Tiles per IPU:          1,472\n"
                              "  Total Tiles:            1,472\n"
                              "  Memory Per-Tile:        624.0 kB\n"
                              "  Total Memory:           897.0 MB\n"
                              "  Clock Speed (approx):   1,500.0 MHz\n"));
}

TEST(SummaryReport, CountsSharedCodeOnce) {
  const std::string text = SummaryReport(fixture::SmallPlan());
  EXPECT_THAT(text, HasSubstr("Graph:\n"
                              "  Number of vertices:                   6\n"
                              "  Number of edges:                     16\n"
                              "  Number of variables:                  3\n"
                              "  Number of compute sets:               2\n"));
}

TEST(SummaryReport, HasTheSectionsThatToolsParseInTheirOrder) {
  const std::string text = SummaryReport(fixture::SmallPlan());
  std::size_t at = 0;
  for (const char* label : {"Target:\n",
                            "Graph:\n",
                            "Memory Usage:\n",
                            "  Total for all IPUs:\n",
                            "Including Gaps:",
                            "Excluding Gaps:\n",
                            "By Memory Region:\n",
                            "Non-interleaved:",
                            "Interleaved:",
                            "Overflowed:",
                            "Total:",
                            "By Data Type:\n",
                            "Variables:",
                            "Constants:",
                            "Host Exchange Packet Headers:",
                            "Global Exchange Packet Headers:",
                            "Stack:",
                            "Vertex Instances:",
                            "Copy Descriptors:",
                            "VectorList Descriptors:",
                            "Vertex Field Data:",
                            "Control Table:",
                            "Control Code:",
                            "Vertex Code:",
                            "Internal Exchange Code:",
                            "Host Exchange Code:",
                            "Global Exchange Code:",
                            "Instrumentation Results:",
                            "Shared Code Storage:",
                            "Shared Data Storage:",
                            "  Vertex Data (",
                            "    By Category:\n",
                            "Internal vertex state:",
                            "Edge pointers:",
                            "Copy pointers:",
                            "Padding:",
                            "Descriptors:",
                            "    By Type:\n",
                            "  By Tile (Excluding Gaps):\n",
                            "Range (KB)",
                            "Count (tiles)",
                            "    Maximum (Including Gaps): ",
                            "    Maximum (Excluding Gaps): ",
                            "tile(s) out of memory\n",
                            "Execution:\n",
                            "  Programs executed:",
                            "  Total cycles:",
                            "  Tile average compute cycles (including idle threads):",
                            "  Tile average compute cycles (excluding idle threads):",
                            "  Tile average IPU exchange cycles:",
                            "  Tile average global exchange cycles:",
                            "  Tile average host exchange cycles:",
                            "  Tile average sync cycles:",
                            "  Cycles by vertex type:\n",
                            "Predicted performance:\n",
                            "Tiles of an IPU:\n"}) {
    const std::size_t found = text.find(label, at);
    ASSERT_NE(found, std::string::npos) << label;
    at = found;
  }
}

TEST(SummaryReport, AddsUpMemory) {
  const std::string text = SummaryReport(fixture::SmallPlan());
  // Four tiles of 800 B; one has 4,000 B more, of which 704 B do not fit its 4,096 B.
  EXPECT_THAT(text, HasSubstr("    Including Gaps:              7,224 B\n"));
  EXPECT_THAT(text, HasSubstr("        Non-interleaved:         3,424 B\n"
                              "        Interleaved:             3,072 B\n"
                              "        Overflowed:                704 B\n"
                              "      Total:                     7,200 B\n"));
  EXPECT_THAT(text, HasSubstr("        Variables:                               4,000 B\n"
                              "        Constants:                               2,000 B\n"));
  EXPECT_THAT(text, HasSubstr("        Stack:                                   1,200 B\n"));
}

TEST(SummaryReport, ListsVertexDataByType) {
  const std::string text = SummaryReport(fixture::SmallPlan());
  EXPECT_THAT(text, HasSubstr("  Vertex Data (180 B):\n"));
  EXPECT_THAT(text, HasSubstr("    By Type:\n"
                              "      poplin::ConvPartial1x1Out<half,half>             160 B\n"
                              "      poplar_rt::Memcpy64Bit                            20 B\n"));
}

TEST(SummaryReport, DrawsTheHistogramOfTiles) {
  const std::string text = SummaryReport(fixture::SmallPlan());
  EXPECT_THAT(text,
              HasSubstr("    Range (KB) Histogram (Excluding Gaps)                Count (tiles)\n"
                        "      0 -    1 ****************************************              3\n"
                        "      1 -    2                                                       0\n"
                        "      2 -    3                                                       0\n"
                        "      3 -    4                                                       0\n"
                        "      4 -    5 **************                                        1\n"
                        "\n"
                        "    Maximum (Including Gaps): 4,824 (4.7 K) on tile 2\n"
                        "    Maximum (Excluding Gaps): 4,800 (4.7 K) on tile 2\n"
                        "    1 tile(s) out of memory\n"));
}

TEST(SummaryReport, KeepsTheHistogramShort) {
  const std::string text = SummaryReport(fixture::RealisticPlan(6, 64));
  const std::size_t begin = text.find("Range (KB)");
  const std::size_t end = text.find("\n\n", begin);
  EXPECT_LE(LinesOf(text.substr(begin, end - begin)).size(), 21U);
}

TEST(SummaryReport, DetailsTilesOutOfMemory) {
  const std::string text = SummaryReport(fixture::SmallPlan());
  EXPECT_THAT(text, HasSubstr("  Tile # 2 memory usage:\n"));
  EXPECT_THAT(text, HasSubstr("    Fullest at: MatMul \"product\" of graph \"model\"\n"));
  EXPECT_THAT(text, Not(HasSubstr("Tile # 0 memory usage")));
}

TEST(SummaryReport, AveragesWhatTilesDo) {
  const std::string text = SummaryReport(fixture::SmallPlan());
  // 2 x (100 + 2,000) + 300 cycles on the tiles and 1,500 of the host.
  EXPECT_EQ(
      LineOf(text, "Total cycles:"),
      "Total cycles:                                           6,000 (approx 6.0 microseconds)");
  EXPECT_THAT(LineOf(text, "Tile average compute cycles (including idle threads):"),
              HasSubstr("3,150.0 (52.5% of total)"));
  EXPECT_THAT(LineOf(text, "Tile average IPU exchange cycles:"),
              HasSubstr("200.0 (3.3% of total)"));
  EXPECT_THAT(LineOf(text, "Tile average host exchange cycles:"),
              HasSubstr("1,500.0 (25.0% of total)"));
  EXPECT_THAT(LineOf(text, "Tile average sync cycles:"), HasSubstr("1,150.0 (19.2% of total)"));
  EXPECT_THAT(text, HasSubstr("  Cycles by vertex type:\n"
                              "    poplin::ConvPartial1x1Out<half,half> (4 instances):           "
                              "12,000\n"
                              "    poplar_rt::Memcpy64Bit               (2 instances):           "
                              "   600\n"));
}

TEST(SummaryReport, PredictsPerformance) {
  const std::string text = SummaryReport(fixture::SmallPlan());
  EXPECT_THAT(LineOf(text, "Device cycles per batch:"),
              HasSubstr("4,500 (approx 4.5 microseconds"));
  EXPECT_THAT(LineOf(text, "Host traffic per batch:"), HasSubstr("1,000 B in, 100 B out"));
  EXPECT_THAT(LineOf(text, "Without overlap:"),
              HasSubstr("6.0 microseconds per batch, 333,333.3 samples/s"));
  EXPECT_THAT(LineOf(text, "With overlap:"),
              HasSubstr("needs I/O tiles and at least 3 batches per step"));
  EXPECT_THAT(LineOf(text, "Latency:"), HasSubstr("6.0 microseconds"));
}

TEST(SummaryReport, SaysWhatOverlapGains) {
  Plan plan = fixture::RealisticPlan(6, 64);
  plan.performance[0].serial_seconds = 4e-3;
  plan.performance[0].overlap_seconds = 2e-3;
  EXPECT_THAT(LineOf(SummaryReport(plan), "With overlap:"),
              HasSubstr("2,000.0 microseconds per batch, 8,000.0 samples/s, 2.00x"));
}

TEST(SummaryReport, ComparesFusedGraphs) {
  const std::string text = SummaryReport(fixture::RealisticPlan(6, 64));
  EXPECT_THAT(LineOf(text, "encoder: 330,000,000 B alone"),
              HasSubstr("50.0% of one batch of each"));
  EXPECT_EQ(LineOf(text, "Saved by sharing:"),
            "Saved by sharing: 110,000,000 B (weights 60,000,000 B, activations 41,000,000 B, code "
            "9,000,000 B)");
  EXPECT_THAT(SummaryReport(fixture::SmallPlan()), Not(HasSubstr("Fused graphs:")));
}

TEST(SummaryReport, SaysHowTilesAreDividedAndWhy) {
  const std::string text = SummaryReport(fixture::RealisticPlan(6, 64));
  EXPECT_THAT(text, HasSubstr("Tiles of an IPU:\n"
                              "  I/O:      0 to 63 (64 tiles)\n"
                              "  Compute:  64 to 1,471 (1,408 tiles)\n"
                              "  Why:\n"
                              "    64 I/O tiles: 4,812 samples/s;"));
}

TEST(SummaryReport, NamesCannotForgeLines) {
  Plan plan = fixture::SmallPlan();
  plan.graphs[0].name = "m\nOut of memory on tile 9: 1 bytes";
  plan.graphs[0].operators[1].name = "p\r\nMemory Usage:";
  plan.graphs[0].operators[1].steps[1].vertex = "v\n    By Type:";
  plan.graphs[0].notes = {"relaxed\nExecution:"};
  const std::vector<std::string> lines = LinesOf(SummaryReport(plan));
  EXPECT_EQ(std::count(lines.begin(), lines.end(), "Memory Usage:"), 1);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), "    By Type:"), 1);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), "Execution:"), 1);
  EXPECT_THAT(lines, Not(::testing::Contains(::testing::StartsWith("Out of memory on tile"))));
}

TEST(SummaryReport, TakesAPlanWithNothingInIt) {
  const std::string text = SummaryReport(Plan{});
  EXPECT_THAT(text, HasSubstr("Memory Usage:\n"));
  EXPECT_THAT(text, Not(HasSubstr("By Tile")));
}

}  // namespace
}  // namespace poprt::ipu
