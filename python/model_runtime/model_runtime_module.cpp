// Extension module model_runtime._model_runtime: requests on NumPy arrays. What users see is in
// runner.py, and arguments.py explains the arguments that are refused here.

#include "python/model_runtime/bindings.hpp"

PYBIND11_MODULE(_model_runtime, module) {
  pybind11::module_::import("popef");  // registers popef.Model, popef.DataType and popef.Error
  model_runtime::BindErrors(module);
  model_runtime::BindConfig(module);
  model_runtime::BindDevices(module);
  model_runtime::BindRunner(module);
}
