#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace poprt::compiler {

/// The value that an input gets when the model is compiled.
struct FrozenInput {
  std::string path;                ///< a .pb or .npy file, as `poprt --freeze_input` takes it
  std::optional<std::string> npy;  ///< the content of a .npy file, in place of a path
};

/// What is decided about the inputs of a model when it is compiled, by name. Names that no input
/// has are errors.
struct ModelInputs {
  /// Fixes open dimensions; to contradict a known one is an error.
  std::map<std::string, std::vector<std::int64_t>> shapes;
  /// These inputs become constants and disappear from the container. Shapes may depend on them.
  std::map<std::string, FrozenInput> frozen;
};

}  // namespace poprt::compiler
