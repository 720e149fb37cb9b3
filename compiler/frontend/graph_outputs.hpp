#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/frontend/import_value.hpp"

namespace poprt::frontend {

/// The outputs of a model as tensors.
struct GraphOutputs {
  std::vector<ir::ValueId> values;
  std::vector<std::string> names;
  /// What cannot be an output of a graph: tensors of strings.
  std::vector<std::pair<std::string, HostValue>> host;

  /// Adds the output `name`: a tensor under that name, a sequence as its elements "NAME/0",
  /// "NAME/1" and so on, an optional as its element or not at all.
  void Add(const std::string& name, const ImportValue& value);
};

}  // namespace poprt::frontend
