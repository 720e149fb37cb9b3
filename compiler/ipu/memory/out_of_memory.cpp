#include "compiler/ipu/memory/out_of_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "compiler/ipu/memory/plan_memory.hpp"
#include "compiler/ipu/memory/remedies.hpp"
#include "compiler/ipu/memory/tile_contents.hpp"

namespace poprt::ipu {
namespace {

constexpr std::size_t kTilesInDetail = 5;
constexpr std::size_t kContentsInDetail = 5;

constexpr const char* kCategoryNames[kMemoryCategories] = {
    "variables",    "activations and temporaries", "constants",     "vertex code",
    "vertex state", "internal exchange code",      "host exchange", "control code",
    "stack"};

std::string Quoted(const std::string& name) {
  return absl::StrCat("\"", std::string(absl::Utf8SafeCEscape(name)), "\"");
}

void AppendContents(const char* title, const std::vector<TileContent>& contents,
                    std::string& text) {
  if (contents.empty()) return;
  absl::StrAppend(&text, "\n  ", title, ":");
  const std::size_t shown = std::min(contents.size(), kContentsInDetail);
  for (std::size_t i = 0; i < shown; ++i) {
    absl::StrAppend(&text, i == 0 ? " " : ", ", Quoted(contents[i].name), " ", contents[i].bytes);
  }
  if (shown == contents.size()) return;
  std::uint64_t rest = 0;
  for (std::size_t i = shown; i < contents.size(); ++i) rest += contents[i].bytes;
  absl::StrAppend(&text, " and ", contents.size() - shown, " more with ", rest);
}

void AppendTile(const Plan& plan, std::uint32_t tile, std::string& text) {
  const TileMemory& memory = plan.memory.tiles[tile];
  absl::StrAppend(&text, "\nTile ", tile, " needs ", NeededBytes(memory), " bytes of ",
                  plan.target.sram_bytes_per_tile, ": ");
  for (std::size_t c = 0; c < kMemoryCategories; ++c) {
    if (memory.bytes[c] > 0) absl::StrAppend(&text, kCategoryNames[c], " ", memory.bytes[c], ", ");
  }
  absl::StrAppend(&text, "gaps ", memory.gap_bytes);
  if (ExecutableBytes(memory) > plan.target.executable_bytes) {
    absl::StrAppend(&text, "\n  its code needs ", ExecutableBytes(memory), " bytes of ",
                    plan.target.executable_bytes, " that can hold code");
  }
  const TileContents contents = ContentsOf(plan, tile);
  AppendContents("always there", contents.weights, text);
  const OperatorPlan* op = PeakOperator(plan, tile);
  if (op == nullptr) return;
  absl::StrAppend(&text, "\n  fullest at operator ", Quoted(op->name), " (", op->op, ") of graph ",
                  Quoted(plan.graphs[memory.peak_graph].name));
  AppendContents("live then", contents.live, text);
  AppendContents("temporaries of its steps, one at a time", contents.temporaries, text);
}

bool SameMemory(const TileMemory& a, const TileMemory& b) {
  return std::equal(std::begin(a.bytes), std::end(a.bytes), std::begin(b.bytes)) &&
         a.peak_graph == b.peak_graph && a.peak_operator == b.peak_operator;
}

/// Tiles that hold as much of everything as the one before them are not told again.
void AppendWorstTiles(const Plan& plan, std::string& text) {
  const std::vector<std::uint32_t>& overflowing = plan.memory.overflowing;
  const std::size_t shown = std::min(overflowing.size(), kTilesInDetail);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& tiles = plan.memory.tiles;
    if (i > 0 && SameMemory(tiles[overflowing[i]], tiles[overflowing[i - 1]])) {
      absl::StrAppend(&text, "\nTile ", overflowing[i], ": as tile ", overflowing[i - 1]);
    } else {
      AppendTile(plan, overflowing[i], text);
    }
  }
  if (overflowing.size() > shown) {
    absl::StrAppend(&text, "\n", overflowing.size() - shown, " more tiles are too full");
  }
}

}  // namespace

absl::Status CheckMemory(const Plan& plan) {
  if (plan.memory.overflowing.empty()) return absl::OkStatus();
  std::string text = "Out of memory: Cannot fit all variable data onto one or more tiles.";
  for (const std::uint32_t tile : plan.memory.overflowing) {
    absl::StrAppend(&text, "\nOut of memory on tile ", tile, ": ",
                    NeededBytes(plan.memory.tiles[tile]), " bytes");
  }
  AppendWorstTiles(plan, text);
  absl::StrAppend(&text, "\nWhat would help:");
  for (const std::string& line : RemediesFor(plan)) absl::StrAppend(&text, "\n- ", line);
  return absl::ResourceExhaustedError(text);
}

}  // namespace poprt::ipu
