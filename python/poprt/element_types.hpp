#pragma once

#include <pybind11/numpy.h>

#include <string>

#include "popef/Types.hpp"

namespace poprt::runtime {

/// The type of arrays for that element type; where NumPy has none, of their bits.
pybind11::dtype NumpyType(popef::DataType type);

/// The element type as ONNX names it.
std::string ElementTypeName(popef::DataType type);

}  // namespace poprt::runtime
