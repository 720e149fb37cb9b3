#include "compiler/ipu/report/summary_memory.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler/ipu/report/number_format.hpp"
#include "compiler/ipu/report/plan_figures.hpp"

namespace poprt::ipu {
namespace {

constexpr double kKilobyte = 1024;
constexpr std::size_t kDetailedTiles = 5;
constexpr std::size_t kHistogramRows = 20;
constexpr std::uint64_t kBarWidth = 40;

/// "label:" and a number of bytes, right-aligned in `width` after an indentation.
std::string Row(int indent, std::string_view label, int width, std::uint64_t bytes) {
  return absl::StrFormat("%s%-*s%*s B\n", std::string(static_cast<std::size_t>(indent), ' '), width,
                         absl::StrCat(std::string(label), ":"), 14, Grouped(bytes));
}

using Categories = std::array<std::uint64_t, kMemoryCategories>;

/// The rows of Poplar's "By Data Type". Those that stay 0 are kinds that the plan does not tell
/// apart from others or does not have.
std::string DataTypes(const Categories& categories, int indent) {
  const auto bytes = [&](MemoryCategory c) { return categories.at(static_cast<std::size_t>(c)); };
  struct Line {
    const char* label;
    std::uint64_t bytes;
  };
  const Line lines[] = {
      {"Variables", bytes(MemoryCategory::kVariablesAlwaysLive) +
                        bytes(MemoryCategory::kVariablesNotAlwaysLive)},
      {"Constants", bytes(MemoryCategory::kConstants)},
      {"Host Exchange Packet Headers", 0},
      {"Global Exchange Packet Headers", 0},
      {"Stack", bytes(MemoryCategory::kStack)},
      {"Vertex Instances", bytes(MemoryCategory::kVertexState)},
      {"Copy Descriptors", 0},
      {"VectorList Descriptors", 0},
      {"Vertex Field Data", 0},
      {"Control Table", 0},
      {"Control Code", bytes(MemoryCategory::kControlCode)},
      {"Vertex Code", bytes(MemoryCategory::kVertexCode)},
      {"Internal Exchange Code", bytes(MemoryCategory::kInternalExchangeCode)},
      {"Host Exchange Code", bytes(MemoryCategory::kHostExchangeCode)},
      {"Global Exchange Code", 0},
      {"Instrumentation Results", 0},
      {"Shared Code Storage", 0},
      {"Shared Data Storage", 0},
  };
  std::string text;
  for (const Line& line : lines) text += Row(indent, line.label, 32, line.bytes);
  return text;
}

std::string Regions(const MemoryRegions& regions, int indent) {
  return Row(indent, "Non-interleaved", 16, regions.non_interleaved) +
         Row(indent, "Interleaved", 16, regions.interleaved) +
         Row(indent, "Overflowed", 16, regions.overflowed);
}

std::string Totals(const Plan& plan, const MemoryTotals& totals) {
  MemoryRegions regions;
  for (const TileMemory& tile : plan.memory.tiles) regions.Add(RegionsOf(tile, plan.target));
  return absl::StrCat(
      "  Total for all IPUs:\n", Row(4, "Including Gaps", 20, totals.bytes + totals.gap_bytes),
      "    Excluding Gaps:\n      By Memory Region:\n", Regions(regions, 8),
      Row(6, "Total", 18, totals.bytes), "      By Data Type:\n", DataTypes(totals.categories, 8));
}

/// The state of vertices; the plan has no finer division of it.
std::string VertexData(const Plan& plan) {
  const std::vector<VertexType> types = VertexTypesOf(plan.graphs);
  std::uint64_t bytes = 0;
  std::size_t width = 0;
  for (const VertexType& type : types) {
    bytes += type.state_bytes;
    width = std::max(width, OneLine(type.name).size());
  }
  std::string text =
      absl::StrCat("  Vertex Data (", Grouped(bytes), " B):\n    By Category:\n",
                   Row(6, "Internal vertex state", 24, bytes), Row(6, "Edge pointers", 24, 0),
                   Row(6, "Copy pointers", 24, 0), Row(6, "Padding", 24, 0),
                   Row(6, "Descriptors", 24, 0), "    By Type:\n");
  for (const VertexType& type : types) {
    absl::StrAppendFormat(&text, "      %-*s  %14s B\n", static_cast<int>(width),
                          OneLine(type.name), Grouped(type.state_bytes));
  }
  return text;
}

/// Bytes of the tile that has least and of the one that has most.
struct Extent {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
};

Extent ExtentOf(const std::vector<TileMemory>& tiles) {
  Extent extent{.least = tiles.front().total(), .most = 0};
  for (const TileMemory& tile : tiles) {
    extent.least = std::min(extent.least, tile.total());
    extent.most = std::max(extent.most, tile.total());
  }
  return extent;
}

std::string Histogram(const std::vector<TileMemory>& tiles) {
  const Extent extent = ExtentOf(tiles);
  std::uint64_t width = 1024;  // a power of two of kilobytes, so that a row's ends are round
  while ((extent.most / width) - (extent.least / width) >= kHistogramRows) width *= 2;
  const std::uint64_t first = extent.least / width;
  std::vector<std::uint64_t> counts((extent.most / width) - first + 1);
  for (const TileMemory& tile : tiles) ++counts[(tile.total() / width) - first];

  const std::uint64_t largest = *std::max_element(counts.begin(), counts.end());
  std::string text = "    Range (KB) Histogram (Excluding Gaps)                Count (tiles)\n";
  for (std::size_t row = 0; row < counts.size(); ++row) {
    const std::uint64_t stars = (counts[row] * kBarWidth + largest - 1) / largest;
    const std::uint64_t low = (first + row) * width / 1024;
    absl::StrAppendFormat(&text, "  %5d - %4d %-40s %14s\n", low, low + width / 1024,
                          std::string(stars, '*'), Grouped(counts[row]));
  }
  return text;
}

std::string Maximum(std::string_view label, std::uint64_t bytes, std::size_t tile) {
  return absl::StrCat("    Maximum (", std::string(label), "): ", Grouped(bytes), " (",
                      GroupedFixed(static_cast<double>(bytes) / kKilobyte, 1), " K) on tile ", tile,
                      "\n");
}

std::string Maxima(const std::vector<TileMemory>& tiles) {
  std::size_t with_gaps = 0;
  std::size_t without_gaps = 0;
  const auto all = [&](std::size_t tile) { return tiles[tile].total() + tiles[tile].gap_bytes; };
  for (std::size_t tile = 0; tile < tiles.size(); ++tile) {
    if (all(tile) > all(with_gaps)) with_gaps = tile;
    if (tiles[tile].total() > tiles[without_gaps].total()) without_gaps = tile;
  }
  return Maximum("Including Gaps", all(with_gaps), with_gaps) +
         Maximum("Excluding Gaps", tiles[without_gaps].total(), without_gaps);
}

/// Where the tile is fullest, in words; empty when the plan does not say.
std::string FullestAt(const Plan& plan, const TileMemory& tile) {
  if (tile.peak_graph >= plan.graphs.size()) return "";
  const GraphPlan& graph = plan.graphs[tile.peak_graph];
  if (tile.peak_operator >= graph.operators.size()) return "";
  const OperatorPlan& op = graph.operators[tile.peak_operator];
  return absl::StrCat("    Fullest at: ", OneLine(op.op), " \"", OneLine(op.name), "\" of graph \"",
                      OneLine(graph.name), "\"\n");
}

std::string TileDetail(const Plan& plan, std::uint32_t number) {
  const TileMemory& tile = plan.memory.tiles.at(number);
  Categories categories = {};
  std::copy(std::begin(tile.bytes), std::end(tile.bytes), categories.begin());
  return absl::StrCat("\n  Tile # ", number, " memory usage:\n",
                      Row(4, "Including Gaps", 20, tile.total() + tile.gap_bytes),
                      "    Excluding Gaps:\n      By Memory Region:\n",
                      Regions(RegionsOf(tile, plan.target), 8), Row(6, "Total", 18, tile.total()),
                      "      By Data Type:\n", DataTypes(categories, 8), FullestAt(plan, tile));
}

std::string Tiles(const Plan& plan) {
  const std::vector<std::uint32_t>& overflowing = plan.memory.overflowing;
  std::string text = absl::StrCat("  By Tile (Excluding Gaps):\n", Histogram(plan.memory.tiles),
                                  "\n", Maxima(plan.memory.tiles), "    ",
                                  Grouped(overflowing.size()), " tile(s) out of memory\n");
  const std::size_t detailed = std::min(overflowing.size(), kDetailedTiles);
  for (std::size_t i = 0; i < detailed; ++i) text += TileDetail(plan, overflowing[i]);
  return text;
}

}  // namespace

std::string MemorySummary(const Plan& plan) {
  const MemoryTotals totals = MemoryTotalsOf(plan.memory);
  std::string text = absl::StrCat("Memory Usage:\n", Totals(plan, totals), VertexData(plan), "\n");
  if (!plan.memory.tiles.empty()) text += Tiles(plan);
  return text;
}

}  // namespace poprt::ipu
