#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

/// The IPU a container is made for.
namespace poprt::ipu {

/// Constants of one IPU architecture. They are data: configs/targets/<ipu_version>.yaml, built into
/// the compiler.
struct Target {
  std::string ipu_version;
  std::uint32_t tiles = 0;  ///< of one IPU
  std::uint64_t sram_bytes_per_tile = 0;
};

/// The target of that name. InvalidArgument lists the known ones.
absl::StatusOr<Target> FindTarget(std::string_view ipu_version);

/// How the tiles of an IPU are divided: tiles [0, io_tiles) hold host buffers, so that transfers
/// overlap with what the others compute.
struct TilePartition {
  std::uint32_t io_tiles = 0;
  std::uint32_t compute_tiles = 0;
};

/// `num_io_tiles` is 0 (no I/O tiles) or even, at least 32 and less than all tiles; anything else
/// is InvalidArgument.
absl::StatusOr<TilePartition> PartitionTiles(const Target& target, std::int64_t num_io_tiles);

}  // namespace poprt::ipu
