#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compiler/frontend/import_value.hpp"

namespace poprt::frontend {

/// The numbers of a tensor as ONNX's Cast writes them: floats in plain notation with as few digits
/// as tell them from their neighbours ("0.1", "1.0", "100000000000000000000.0"), "NaN", "INF",
/// "-INF", integers in decimal, "True" and "False".
StringTensor NumbersToStrings(const Tensor& tensor);

/// The inverse: plain and scientific notation; "NaN", "INF", "+INF", "-INF", "True" and "False" in
/// any case; for integers, what follows the point is left out. Throws std::invalid_argument for
/// what is no number or none that the type can hold.
Tensor StringsToNumbers(const StringTensor& strings, ElementType element);

}  // namespace poprt::frontend
