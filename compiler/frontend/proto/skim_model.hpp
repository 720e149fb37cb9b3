#pragma once

#include <onnx/onnx_pb.h>

#include <string_view>

namespace poprt::frontend {

/// A model without the elements of its graph's initializers, which are most of a file: of a mapped
/// one their pages are not even read. Initializers keep names, types and the places of external
/// data. False if `bytes` are no model.
bool SkimModel(std::string_view bytes, onnx::ModelProto* model);

}  // namespace poprt::frontend
