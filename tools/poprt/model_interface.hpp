#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontend/frozen_input.hpp"

namespace poprt::cli {

/// An extent, or the name of an open dimension, "?" if it has none.
using Dimension = std::variant<std::int64_t, std::string>;

/// An input or output as the model file declares it.
struct DeclaredTensor {
  std::string name;
  std::string element_type;  ///< "float32"; "unknown" if the file does not say
  std::vector<Dimension> dimensions;
  bool has_shape = true;
  std::string frozen_file = {};  ///< holds the value of an input that becomes a constant
};

/// Inputs and outputs of a model file, before anything is converted.
struct ModelInterface {
  std::vector<DeclaredTensor> inputs;  ///< without those that have an initializer
  std::vector<DeclaredTensor> outputs;
  std::set<std::string> external_files;  ///< paths of external data, relative to the model's folder
};

/// NotFound when the file cannot be read, InvalidArgument when it is no ONNX model.
absl::StatusOr<ModelInterface> ReadModelInterface(const std::string& path);

/// Notes at the inputs among `frozen` which files hold their values.
void MarkFrozen(const std::map<std::string, frontend::FrozenInput>& frozen, ModelInterface& model);

/// "Input X: dtype - float32, shape - [1, 2]" and the like, a line each; ", frozen - x.npy" follows
/// if a file holds the value.
std::string ToText(const ModelInterface& model);

}  // namespace poprt::cli
