// Extension module poprt._runtime: the C++ interface of poprt::runtime. poprt/runtime.py is what
// users see; it has checked the arrays before they come here.

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <vector>

#include "poprt/executable.hpp"
#include "python/poprt/config_bindings.hpp"
#include "python/poprt/element_types.hpp"
#include "python/poprt/runner_bindings.hpp"

namespace py = pybind11;

namespace poprt::runtime {
namespace {

/// "input graph0/X float32[1, 2], output ...".
std::string Repr(const Executable& executable) {
  std::string text;
  for (const popef::Anchor& anchor : executable.getPopefModel()->metadata.anchors()) {
    const std::vector<std::int64_t>& shape = anchor.tensorInfo().shape();
    text += std::string(text.empty() ? " " : ", ") +
            (anchor.type() == popef::TensorType::INPUT ? "input " : "output ") + anchor.name() +
            " " + std::string(py::str(NumpyType(anchor.tensorInfo().dataType()))) + "[";
    for (std::size_t i = 0; i < shape.size(); ++i) {
      text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
    }
    text += "]";
  }
  return std::string("<poprt.Executable") + (executable.isFused() ? " (fused):" : ":") + text + ">";
}

}  // namespace
}  // namespace poprt::runtime

PYBIND11_MODULE(_runtime, module) {
  py::class_<poprt::Executable, std::shared_ptr<poprt::Executable>>(module, "Executable")
      .def(py::init<const std::string&>(), py::arg("path"))
      .def(py::init<const std::vector<std::string>&>(), py::arg("paths"))
      .def("is_fused", &poprt::Executable::isFused)
      .def("get_opaque_blobs",
           [](const poprt::Executable& executable) {
             py::dict blobs;
             for (const auto& [name, content] : executable.getOpaqueBlobs()) {
               blobs[py::str(name)] = py::bytes(content);
             }
             return blobs;
           })
      .def("__repr__",
           [](const poprt::Executable& executable) { return poprt::runtime::Repr(executable); });
  module.attr("__version__") = POPRT_VERSION;
  poprt::runtime::BindDevices(module);
  poprt::runtime::BindConfigs(module);
  poprt::runtime::BindRunners(module);
}
