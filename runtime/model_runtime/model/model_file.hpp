#pragma once

#include <memory>
#include <string>
#include <vector>

#include "popef/Model.hpp"

namespace model_runtime {

/// The one model that the files make up together. Files are mapped: nothing proportional to the
/// weights is read. Throws popef::Error.
std::shared_ptr<popef::Model> ReadModel(const std::vector<std::string>& popef_paths);

}  // namespace model_runtime
