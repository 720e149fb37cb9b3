#pragma once

#include <pybind11/pybind11.h>

/// The parts of the extension module model_runtime._model_runtime.
namespace model_runtime {

void BindErrors(pybind11::module_& module);
/// ModelRunnerConfig without the fields that have arrays, which are in runner.py.
void BindConfig(pybind11::module_& module);
/// DeviceManager and Device; after the configuration.
void BindDevices(pybind11::module_& module);
/// Runner and Future: what ModelRunner of runner.py is made of.
void BindRunner(pybind11::module_& module);

}  // namespace model_runtime
