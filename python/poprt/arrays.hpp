#pragma once

#include <pybind11/numpy.h>

#include <map>
#include <string>

#include "poprt/runtime/runtime_commons.hpp"

namespace poprt::runtime {

/// The arrays of a request by name.
using Arrays = std::map<std::string, pybind11::array>;

/// Views of the arrays' memory.
inline InputMemoryView InputViews(const Arrays& arrays) {
  InputMemoryView views;
  for (const auto& [name, array] : arrays) {
    views.emplace(name, ConstTensorMemoryView(array.data(), array.nbytes()));
  }
  return views;
}

inline OutputMemoryView OutputViews(Arrays& arrays) {
  OutputMemoryView views;
  for (auto& [name, array] : arrays) {
    views.emplace(name, TensorMemoryView(array.mutable_data(), array.nbytes()));
  }
  return views;
}

}  // namespace poprt::runtime
