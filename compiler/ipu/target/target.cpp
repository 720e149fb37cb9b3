#include "compiler/ipu/target/target.hpp"

#include <yaml-cpp/yaml.h>

#include "absl/strings/str_cat.h"
#include "compiler/ipu/target/embedded_targets.hpp"

namespace poprt::ipu {
namespace {

constexpr std::int64_t kFewestIoTiles = 32;

absl::StatusOr<Target> ParseTarget(const EmbeddedTarget& source) {
  try {
    const YAML::Node yaml = YAML::Load(std::string(source.yaml));
    return Target{.ipu_version = yaml["ipu_version"].as<std::string>(),
                  .tiles = yaml["tiles"].as<std::uint32_t>(),
                  .sram_bytes_per_tile = yaml["sram_bytes_per_tile"].as<std::uint64_t>()};
  } catch (const YAML::Exception& error) {
    return absl::InternalError(absl::StrCat("target ", std::string(source.ipu_version),
                                            " built into the compiler: ", error.what()));
  }
}

}  // namespace

absl::StatusOr<Target> FindTarget(std::string_view ipu_version) {
  std::string known;
  for (const EmbeddedTarget& target : EmbeddedTargets()) {
    if (target.ipu_version == ipu_version) return ParseTarget(target);
    absl::StrAppend(&known, known.empty() ? "" : ", ", std::string(target.ipu_version));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("ipu_version is '", std::string(ipu_version), "', allowed are ", known));
}

absl::StatusOr<TilePartition> PartitionTiles(const Target& target, std::int64_t num_io_tiles) {
  const bool valid =
      num_io_tiles == 0 ||
      (num_io_tiles % 2 == 0 && num_io_tiles >= kFewestIoTiles && num_io_tiles < target.tiles);
  if (!valid) {
    return absl::InvalidArgumentError(absl::StrCat(
        "num_io_tiles is ", num_io_tiles, ", allowed are 0 or an even number from ", kFewestIoTiles,
        " to ", target.tiles - 2, " (", target.ipu_version, " has ", target.tiles, " tiles)"));
  }
  const auto io_tiles = static_cast<std::uint32_t>(num_io_tiles);
  return TilePartition{.io_tiles = io_tiles, .compute_tiles = target.tiles - io_tiles};
}

}  // namespace poprt::ipu
