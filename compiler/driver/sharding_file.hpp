#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "passes/pass.hpp"

namespace poprt::driver {

/// What a file for --manual_sharding_config says: a YAML list of {node, device, stage}, with a
/// stage for all nodes or for none. NotFound when it can't be read; InvalidArgument lists
/// everything that is wrong with its line, what was found and what is allowed.
absl::StatusOr<std::vector<passes::ShardingNode>> ReadShardingFile(const std::string& path);

}  // namespace poprt::driver
