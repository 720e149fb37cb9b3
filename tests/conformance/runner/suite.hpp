#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace poprt::conformance {

/// One set of inputs and outputs of a case: files in the order of the graph's inputs and outputs.
struct DataSet {
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
};

/// A model with results that others computed.
struct Case {
  std::string name;   ///< its group and folder, e.g. "node/test_abs"
  std::string model;  ///< path of the ONNX file
  std::vector<DataSet> data;
};

/// The cases of a backend suite, ordered by name. A case is a folder with model.onnx and folders
/// test_data_set_N that hold input_I.pb and output_I.pb, or, as the light models are stored, a pair
/// of files NAME.onnx and NAME_output_0.pb, whose input the suite fixes by a rule. NotFound when
/// the folder holds no case.
absl::StatusOr<std::vector<Case>> FindCases(const std::string& folder);

}  // namespace poprt::conformance
