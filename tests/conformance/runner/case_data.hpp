#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontend/frozen_input.hpp"
#include "compiler/frontend/import_value.hpp"
#include "runtime/tensor/tensor.hpp"
#include "tests/conformance/runner/suite.hpp"

namespace poprt::conformance {

/// An input of a case's model that is no initializer.
struct CaseInput {
  std::string name;
  /// Its value may determine a shape: it is no tensor, or a scalar or vector.
  bool may_freeze = false;
  /// It can only be given at compile time: it is no tensor of numbers.
  bool must_freeze = false;
  /// The model leaves extents of it open.
  bool is_open = false;
};

/// Values by the name of the graph's input or output.
using HostValues = std::map<std::string, frontend::HostValue>;

struct CaseValues {
  HostValues inputs;
  HostValues outputs;
};

/// A case in memory.
struct CaseData {
  std::string name;
  std::string path;
  std::vector<CaseInput> inputs;
  std::vector<std::string> operators;  ///< of the model, subgraphs included, ordered
  std::vector<CaseValues> data;        ///< at least one
};

/// Reads model and stored values. A light model, which has no stored input, gets the suite's: 0 to
/// 1 in even steps.
absl::StatusOr<CaseData> ReadCase(const Case& source);

/// The tensors a container gives for outputs of these values: sequences as one tensor for each
/// element, nothing for an empty optional. Unimplemented for strings.
absl::StatusOr<std::map<std::string, Tensor>> TensorsOf(const HostValues& values);

}  // namespace poprt::conformance
