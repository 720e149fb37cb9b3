#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "compiler/frontend/opset_imports.hpp"

namespace onnx {
class ModelProto;
}

namespace poprt::frontend {

/// Parses a model and checks that it is one: IR version, size, a graph. Errors do not name the
/// model.
absl::Status ParseModel(std::string_view bytes, onnx::ModelProto* model);

/// What of a model outside its graph decides how the graph is read. Errors do not name the model;
/// several are separated by line feeds.
struct ModelHeader {
  OpsetVersions opsets;
};

/// Checks opset imports and that the model has nothing that is not supported: training.
absl::Status ReadHeader(const onnx::ModelProto& model, ModelHeader* header);

}  // namespace poprt::frontend
