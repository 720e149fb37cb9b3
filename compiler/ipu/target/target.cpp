#include "compiler/ipu/target/target.hpp"

#include "absl/strings/str_cat.h"
#include "compiler/ipu/target/embedded_targets.hpp"
#include "compiler/ipu/target/target_yaml.hpp"
#include "compiler/ipu/target/text_file.hpp"

namespace poprt::ipu {
namespace {

constexpr std::int64_t kFewestIoTiles = 32;

}  // namespace

absl::StatusOr<Target> FindTarget(std::string_view ipu_version) {
  std::string known;
  for (const EmbeddedTarget& target : EmbeddedTargets()) {
    if (target.ipu_version == ipu_version) {
      return ParseTargetYaml(target.yaml,
                             absl::StrCat("configs/targets/", std::string(ipu_version), ".yaml"));
    }
    absl::StrAppend(&known, known.empty() ? "" : ", ", std::string(target.ipu_version));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("ipu_version is '", std::string(ipu_version), "', allowed are ", known));
}

absl::StatusOr<Target> LoadTargetFile(const std::string& path) {
  const absl::StatusOr<std::string> yaml = ReadTextFile("target file", path);
  if (!yaml.ok()) return yaml.status();
  return ParseTargetYaml(*yaml, path);
}

absl::StatusOr<Platform> FindPlatform(const Target& target, std::string_view name) {
  if (name.empty()) name = target.default_platform;
  std::string known;
  for (const Platform& platform : target.platforms) {
    if (platform.name == name) return platform;
    absl::StrAppend(&known, known.empty() ? "" : ", ", platform.name);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "platform is '", std::string(name), "', allowed for ", target.ipu_version, " are ", known));
}

double Seconds(const Platform& platform, std::uint64_t cycles) {
  return static_cast<double>(cycles) / static_cast<double>(platform.clock_hz);
}

absl::StatusOr<TilePartition> PartitionTiles(const Target& target, std::int64_t num_io_tiles) {
  const bool valid =
      num_io_tiles == 0 ||
      (num_io_tiles % 2 == 0 && num_io_tiles >= kFewestIoTiles && num_io_tiles < target.tiles);
  if (!valid) {
    // The largest even number below the number of tiles.
    const std::uint32_t most = (target.tiles - 1) / 2 * 2;
    return absl::InvalidArgumentError(
        absl::StrCat("num_io_tiles is ", num_io_tiles, ", allowed are 0",
                     most < kFewestIoTiles
                         ? std::string()
                         : absl::StrCat(" or an even number from ", kFewestIoTiles, " to ", most),
                     " (", target.ipu_version, " has ", target.tiles, " tiles)"));
  }
  const auto io_tiles = static_cast<std::uint32_t>(num_io_tiles);
  return TilePartition{.io_tiles = io_tiles, .compute_tiles = target.tiles - io_tiles};
}

}  // namespace poprt::ipu
