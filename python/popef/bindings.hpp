#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <sstream>
#include <string>

#include "popef/Types.hpp"

/// The parts of the extension module popef._popef.
namespace popef {

/// What arrays of such elements hold. Throws Error if the info has no element type.
pybind11::dtype NumpyType(const TensorInfo& info);

template <typename T>
std::string TextOf(const T& value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

/// Enumerations and value classes: Metadata and what it consists of.
void BindValues(pybind11::module_& module);
/// Reader, ModelBuilder, Writer and what they return.
void BindFiles(pybind11::module_& module);

}  // namespace popef
