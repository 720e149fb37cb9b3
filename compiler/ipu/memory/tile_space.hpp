#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "compiler/ipu/plan/plan.hpp"

namespace poprt::ipu {

/// No program runs on more: a POD64.
inline constexpr std::uint32_t kMostIpus = 64;

/// The tiles of a program, those of one IPU after the other.
struct TileSpace {
  std::uint32_t tiles_per_ipu = 0;
  std::uint32_t io_tiles = 0;  ///< of every IPU, its first
  std::uint32_t ipus = 1;

  std::size_t size() const { return std::size_t{tiles_per_ipu} * ipus; }
};

/// As many IPUs as the options or the operators name, but at most kMostIpus: what lies on others is
/// not counted.
TileSpace TilesOf(std::span<const GraphPlan> graphs, const TilePartition& partition,
                  const PlanOptions& options);

/// What a tensor needs on its last tile; `mapping.bytes_per_tile` on the others.
std::uint64_t BytesOnLastTile(const TensorPlan& tensor);

/// What a tensor needs on a tile of its IPU.
std::uint64_t BytesOnTile(const TensorPlan& tensor, std::uint32_t tile);

/// Bytes of every tile as a sum of ranges. Adding takes the same time for one tile and for all: it
/// only notes where the sum changes from one tile to the next.
class TileSums {
 public:
  explicit TileSums(const TileSpace& space);

  /// Tiles are those of one IPU; what lies beyond its last is ignored.
  void Add(std::uint32_t ipu, TileRange tiles, std::uint64_t bytes);

  /// Adds the tensor `times` times; a negative number takes it away.
  void AddTensor(std::uint32_t ipu, const TensorPlan& tensor, std::int64_t times);

  /// How much more every tile has than the one before it, modulo 2^64.
  const std::vector<std::uint64_t>& steps() const { return steps_; }

  std::vector<std::uint64_t> Sums() const;

 private:
  std::uint32_t tiles_per_ipu_;
  std::vector<std::uint64_t> steps_;  // one more than tiles
};

}  // namespace poprt::ipu
