#include "compiler/ipu/report/memory_json.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "compiler/ipu/report/plan_figures.hpp"

namespace poprt::ipu {
namespace {

Json CategoriesOf(const MemoryPlan& memory) {
  const MemoryTotals totals = MemoryTotalsOf(memory);
  Json table = EmptyTable({"category", "bytes", "fullest_tile_bytes"});
  for (std::size_t c = 0; c < kMemoryCategories; ++c) {
    std::uint64_t fullest = 0;
    for (const TileMemory& tile : memory.tiles) fullest = std::max(fullest, tile.bytes[c]);
    table["rows"].push_back(
        {MemoryCategoryName(static_cast<MemoryCategory>(c)), totals.categories.at(c), fullest});
  }
  return table;
}

/// What `figure` is of one tile after the other, run-length coded: number of tiles, figure, number
/// of tiles, figure...
template <typename Figure>
Json RunsOf(const std::vector<TileMemory>& tiles, const Figure& figure) {
  Json runs = Json::array();
  for (std::size_t begin = 0; begin < tiles.size();) {
    const std::uint64_t value = figure(tiles[begin]);
    std::size_t end = begin + 1;
    while (end < tiles.size() && figure(tiles[end]) == value) ++end;
    runs.push_back(end - begin);
    runs.push_back(value);
    begin = end;
  }
  return runs;
}

Json TilesOf(const std::vector<TileMemory>& tiles) {
  Json columns = Json::object();
  for (std::size_t c = 0; c < kMemoryCategories; ++c) {
    const std::string name(MemoryCategoryName(static_cast<MemoryCategory>(c)));
    columns[name] = RunsOf(tiles, [c](const TileMemory& tile) { return tile.bytes[c]; });
  }
  columns["gaps"] = RunsOf(tiles, [](const TileMemory& tile) { return tile.gap_bytes; });
  columns["peak_graph"] = RunsOf(tiles, [](const TileMemory& tile) { return tile.peak_graph; });
  columns["peak_operator"] =
      RunsOf(tiles, [](const TileMemory& tile) { return tile.peak_operator; });
  return columns;
}

}  // namespace

Json MemoryJson(const MemoryPlan& memory) {
  const MemoryTotals totals = MemoryTotalsOf(memory);
  const std::uint64_t tiles = std::max<std::uint64_t>(memory.tiles.size(), 1);
  return {{"bytes", totals.bytes},
          {"gap_bytes", totals.gap_bytes},
          {"mean_tile_bytes", totals.bytes / tiles},
          {"fullest_tile", totals.fullest_tile},
          {"fullest_tile_bytes", totals.fullest_tile_bytes},
          {"out_of_memory_tiles", memory.overflowing.size()},
          {"shared_weight_bytes", memory.shared_weight_bytes},
          {"shared_activation_bytes", memory.shared_activation_bytes},
          {"shared_code_bytes", memory.shared_code_bytes},
          {"categories", CategoriesOf(memory)},
          {"tiles", TilesOf(memory.tiles)}};
}

}  // namespace poprt::ipu
