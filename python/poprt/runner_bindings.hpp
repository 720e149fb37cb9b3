#pragma once

#include <pybind11/pybind11.h>

namespace poprt::runtime {

/// The runners, descriptions of tensors and futures; after BindConfigs.
void BindRunners(pybind11::module_& module);

}  // namespace poprt::runtime
