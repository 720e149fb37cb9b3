#pragma once

#include <vector>

#include "runtime/kernels/inner_loops.hpp"

namespace poprt::kernels::testing {

/// Loops over registers of 16 lanes on any processor: what AVX-512 runs, with two portable
/// registers of 8 lanes for each of its own.
const InnerLoops& SixteenLaneLoops();

/// Portable loops with a matrix unit, which is emulated.
const InnerLoops& EmulatedUnitLoops();

/// The loops to test on this machine.
inline std::vector<const InnerLoops*> AllInnerLoops() {
  const auto supported = SupportedInnerLoops();
  std::vector<const InnerLoops*> all(supported.begin(), supported.end());
  all.push_back(&SixteenLaneLoops());
  all.push_back(&EmulatedUnitLoops());
  return all;
}

}  // namespace poprt::kernels::testing
