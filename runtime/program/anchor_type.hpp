#pragma once

#include <optional>

#include "popef/Types.hpp"
#include "runtime/tensor/element_type.hpp"

namespace poprt::program {

/// The container's name for an element type; nothing for those that cannot enter or leave a device
/// (bfloat16, undefined).
std::optional<popef::DataType> AnchorDataType(ElementType type);

}  // namespace poprt::program
