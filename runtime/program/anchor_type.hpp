#pragma once

#include <optional>

#include "popef/Types.hpp"
#include "runtime/tensor/element_type.hpp"

namespace poprt::program {

/// The container's name for an element type; nothing for kUndefined. The F8143 and F8152 of the
/// original are ONNX's FNUZ forms: no infinity, one NaN, a bias of 8 and of 16.
std::optional<popef::DataType> AnchorDataType(ElementType type);

}  // namespace poprt::program
