#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tools/popef_dump/contents.hpp"

namespace poprt::dump {

/// Axes by the names of outputs.
using OpenAxes = std::map<std::string, std::uint32_t>;

/// The outputs of an executable of which the metadata gives the largest shape only: their extent
/// along this axis depends on data. Empty if its program has not been read.
OpenAxes OpenAxesOf(const Contents& contents, const std::string& executable);

}  // namespace poprt::dump
