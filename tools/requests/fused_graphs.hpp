#pragma once

#include <string>
#include <vector>

#include "poprt/executable.hpp"
#include "poprt/runtime/runtime_commons.hpp"

namespace poprt::requests {

/// The names of a fused model's graphs, by index. Throws std::runtime_error if the container does
/// not say.
std::vector<std::string> GraphsOf(const Executable& executable);

/// The tensors of one graph, or all if `graph` is empty: of a model that is not fused.
std::vector<runtime::DataDesc> TensorsOf(std::vector<runtime::DataDesc> descs,
                                         const std::string& graph);

}  // namespace poprt::requests
