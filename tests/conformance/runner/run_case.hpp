#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/conformance/runner/case_data.hpp"
#include "tests/conformance/runner/compare.hpp"
#include "tests/conformance/runner/loaded_model.hpp"
#include "tests/conformance/runner/result.hpp"

namespace poprt::conformance {

/// A case that ran alone: what fused mode needs of it.
struct SoloRun {
  Outcome outcome;
  std::set<std::string> frozen;  ///< the fewest inputs whose values compiling needs
  std::vector<Tensors> outputs;  ///< for each data set, if it passed
};

/// Compiles with as few inputs frozen as possible, runs every data set and compares.
SoloRun RunSolo(const CaseData& data, const Tolerance& tolerance);

/// Freezes all inputs and compares the constants that become the outputs.
Outcome RunFolded(const CaseData& data, const Tolerance& tolerance);

/// One graph of a container of many.
struct FusedCase {
  const CaseData* data;
  const SoloRun* solo;
};

/// Fuses the cases into one container and compares every output with that of the solo run, bit by
/// bit. One outcome a case.
std::vector<Outcome> RunFused(const std::vector<FusedCase>& cases);

}  // namespace poprt::conformance
