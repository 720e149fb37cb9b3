#pragma once

#include <optional>

#include "runtime/tensor/tensor.hpp"

namespace poprt::frontend {

/// One element of a float type, rounded to it; nothing for other types.
std::optional<Tensor> FloatScalar(ElementType element, float value);

}  // namespace poprt::frontend
