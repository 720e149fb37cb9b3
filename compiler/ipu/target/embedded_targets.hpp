#pragma once

#include <span>
#include <string_view>

namespace poprt::ipu {

/// Text of one file of configs/targets, put into the compiler by the build.
struct EmbeddedTarget {
  std::string_view ipu_version;
  std::string_view yaml;
};

/// In the order of their names.
std::span<const EmbeddedTarget> EmbeddedTargets();

}  // namespace poprt::ipu
