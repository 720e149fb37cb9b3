#pragma once

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontend/graph_importer.hpp"
#include "runtime/tensor/attributes.hpp"

namespace poprt::frontend {

/// A Scan as its attributes tell it.
struct ScanForm {
  std::size_t states = 0;
  std::size_t inputs = 0;   ///< that are scanned
  std::size_t results = 0;  ///< that are stacked
  Ints input_axes = {};
  Ints output_axes = {};
  std::vector<bool> input_reversed = {};
  std::vector<bool> output_reversed = {};
};

/// InvalidArgument when the attributes do not fit the inputs and outputs of the node. `has_batch`
/// tells the oldest form, whose first input is no operand.
absl::StatusOr<ScanForm> ReadScanForm(const NodeImport& import, bool has_batch);

}  // namespace poprt::frontend
