#include "compiler/ipu/memory/tile_space.hpp"

#include <algorithm>

namespace poprt::ipu {

TileSpace TilesOf(std::span<const GraphPlan> graphs, const TilePartition& partition,
                  const PlanOptions& options) {
  std::uint32_t ipus = std::max<std::uint32_t>(1, options.num_ipus);
  for (const GraphPlan& graph : graphs) {
    for (const OperatorPlan& op : graph.operators) {
      if (op.ipu < kMostIpus) ipus = std::max(ipus, op.ipu + 1);
    }
  }
  return {.tiles_per_ipu = partition.io_tiles + partition.compute_tiles,
          .io_tiles = partition.io_tiles,
          .ipus = std::min(ipus, kMostIpus)};
}

std::uint64_t BytesOnLastTile(const TensorPlan& tensor) {
  const TileMapping& mapping = tensor.mapping;
  if (mapping.tiles.count == 0) return 0;
  const std::uint64_t before = mapping.bytes_per_tile * (mapping.tiles.count - 1);
  // Tensors with copies of their elements on several tiles fill them all.
  if (before >= tensor.bytes) return mapping.bytes_per_tile;
  return std::min(mapping.bytes_per_tile, tensor.bytes - before);
}

std::uint64_t BytesOnTile(const TensorPlan& tensor, std::uint32_t tile) {
  const TileRange& tiles = tensor.mapping.tiles;
  if (tile < tiles.first || tile - tiles.first >= tiles.count) return 0;
  const bool is_last = tile - tiles.first == tiles.count - 1;
  return is_last ? BytesOnLastTile(tensor) : tensor.mapping.bytes_per_tile;
}

TileSums::TileSums(const TileSpace& space)
    : tiles_per_ipu_(space.tiles_per_ipu), steps_(space.size() + 1, 0) {}

void TileSums::Add(std::uint32_t ipu, TileRange tiles, std::uint64_t bytes) {
  if (tiles.first >= tiles_per_ipu_) return;
  const std::size_t first = std::size_t{ipu} * tiles_per_ipu_ + tiles.first;
  if (first >= steps_.size() - 1) return;
  steps_[first] += bytes;
  steps_[first + std::min(tiles.count, tiles_per_ipu_ - tiles.first)] -= bytes;
}

void TileSums::AddTensor(std::uint32_t ipu, const TensorPlan& tensor, std::int64_t times) {
  const TileRange& tiles = tensor.mapping.tiles;
  if (tiles.count == 0) return;
  const auto factor = static_cast<std::uint64_t>(times);  // modulo 2^64, as the sums are
  Add(ipu, {tiles.first, tiles.count - 1}, tensor.mapping.bytes_per_tile * factor);
  Add(ipu, {tiles.first + tiles.count - 1, 1}, BytesOnLastTile(tensor) * factor);
}

std::vector<std::uint64_t> TileSums::Sums() const {
  std::vector<std::uint64_t> sums(steps_.size() - 1);
  std::uint64_t sum = 0;
  for (std::size_t t = 0; t < sums.size(); ++t) sums[t] = sum += steps_[t];
  return sums;
}

}  // namespace poprt::ipu
