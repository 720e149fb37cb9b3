#pragma once

#include <istream>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/poprt/outcome.hpp"

namespace poprt::cli {

/// A container: the path of its file, or a stream of its bytes.
using ContainerSource = std::variant<std::string, std::shared_ptr<std::istream>>;

/// Runs every graph of a container on random data, one request after the other. `graphs` are the
/// names of a fused container's graphs; empty for one that is not fused.
absl::StatusOr<std::vector<RunReport>> RunContainer(const ContainerSource& container,
                                                    const std::vector<std::string>& graphs);

}  // namespace poprt::cli
