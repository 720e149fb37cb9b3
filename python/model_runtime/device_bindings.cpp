#include <cstdint>
#include <memory>
#include <string>

#include "model_runtime/DeviceManager.hpp"
#include "python/model_runtime/bindings.hpp"

namespace py = pybind11;

namespace model_runtime {
namespace {

using ModelPointer = std::shared_ptr<popef::Model>;
using WithoutLock = py::call_guard<py::gil_scoped_release>;

void BindDevice(py::module_& module) {
  py::class_<DeviceConstraints>(module, "DeviceConstraints")
      .def(py::init([](std::int64_t num_ipus, std::int64_t ipu_version) {
             return DeviceConstraints{.num_ipus = num_ipus, .ipu_version = ipu_version};
           }),
           py::arg("num_ipus") = 1, py::arg("ipu_version") = 0)
      .def_readwrite("num_ipus", &DeviceConstraints::num_ipus)
      .def_readwrite("ipu_version", &DeviceConstraints::ipu_version)
      .def("__repr__", [](const DeviceConstraints& self) {
        return "DeviceConstraints(num_ipus=" + std::to_string(self.num_ipus) +
               ", ipu_version=" + std::to_string(self.ipu_version) + ")";
      });
  py::class_<Device, std::shared_ptr<Device>>(
      module, "Device", "One or more IPUs, had exclusively until the last reference is gone.")
      .def("id", &Device::id)
      .def("numIpus", &Device::numIpus)
      .def("ipuVersion", &Device::ipuVersion)
      .def("tilesPerIpu", &Device::tilesPerIpu)
      .def("__repr__", [](const Device& self) {
        return "<model_runtime.Device " + std::to_string(self.id()) + ": " +
               std::to_string(self.numIpus()) + " IPUs>";
      });
}

}  // namespace

void BindDevices(py::module_& module) {
  BindDevice(module);
  using Manager = DeviceManager;
  const auto wait = py::arg("wait_config") = DeviceWaitConfig();
  py::class_<Manager>(module, "DeviceManager")
      .def(py::init<>())
      .def("getNumDevices", &Manager::getNumDevices)
      .def("getDevice",
           py::overload_cast<const ModelPointer&, const DeviceWaitConfig&>(&Manager::getDevice,
                                                                           py::const_),
           py::arg("model").none(false), wait, WithoutLock())
      .def("getDevice",
           py::overload_cast<const DeviceConstraints&, const DeviceWaitConfig&>(&Manager::getDevice,
                                                                                py::const_),
           py::arg("constraints"), wait, WithoutLock())
      .def(
          "getDevice",
          py::overload_cast<std::int64_t, const DeviceWaitConfig&>(&Manager::getDevice, py::const_),
          py::arg("num_ipus"), wait, WithoutLock())
      .def("getSpecificDevice", &Manager::getSpecificDevice, py::arg("id"), wait, WithoutLock())
      .def("createIpuModelDevice",
           py::overload_cast<std::int64_t, std::int64_t, std::int64_t>(
               &Manager::createIpuModelDevice, py::const_),
           py::arg("num_ipus"), py::arg("ipu_version"), py::arg("tiles_per_ipu"))
      .def("createIpuModelDevice",
           py::overload_cast<const ModelPointer&, std::int64_t>(&Manager::createIpuModelDevice,
                                                                py::const_),
           py::arg("model").none(false), py::arg("tiles_per_ipu"))
      .def("createSmallIpuModelDevice",
           py::overload_cast<std::int64_t, std::int64_t>(&Manager::createSmallIpuModelDevice,
                                                         py::const_),
           py::arg("num_ipus"), py::arg("ipu_version"))
      .def("createSmallIpuModelDevice",
           py::overload_cast<const ModelPointer&>(&Manager::createSmallIpuModelDevice, py::const_),
           py::arg("model").none(false))
      .def("__repr__", [](const Manager& self) {
        return "<model_runtime.DeviceManager: " + std::to_string(self.getNumDevices()) +
               " devices>";
      });
}

}  // namespace model_runtime
