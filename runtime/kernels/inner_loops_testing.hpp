#pragma once

#include <vector>

#include "runtime/kernels/inner_loops.hpp"

namespace poprt::kernels::testing {

/// The loops to test on this machine.
inline std::vector<const InnerLoops*> AllInnerLoops() {
  const auto supported = SupportedInnerLoops();
  return {supported.begin(), supported.end()};
}

}  // namespace poprt::kernels::testing
