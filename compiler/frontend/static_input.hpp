#pragma once

#include <optional>

#include "runtime/tensor/attributes.hpp"
#include "runtime/tensor/tensor.hpp"

namespace poprt::frontend {

/// The value of a static input as the attribute it becomes: Ints for integers and bool, Floats for
/// floats (float64 is rounded); nothing for an unsigned number beyond int64.
std::optional<AttributeValue> StaticValue(const Tensor& tensor);

/// A number becomes a list of one, as static inputs are kept in the graph.
AttributeValue AsList(AttributeValue value);

}  // namespace poprt::frontend
