// Extension module poprt._runtime: the C++ interface of poprt::runtime. poprt/runtime.py is what
// users see; it has checked the arrays before they come here.

#include <pybind11/chrono.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "poprt/executable.hpp"
#include "poprt/runtime/device_manager.hpp"
#include "poprt/runtime/model_runner.hpp"
#include "poprt/runtime/runtime_config.hpp"

namespace py = pybind11;

namespace poprt::runtime {
namespace {

using Arrays = std::map<std::string, py::array>;

py::dtype NumpyType(popef::DataType type) {
  switch (type) {
    case popef::DataType::BOOL:
      return py::dtype("bool");
    case popef::DataType::F16:
      return py::dtype("float16");
    case popef::DataType::F32:
      return py::dtype("float32");
    case popef::DataType::F64:
      return py::dtype("float64");
    case popef::DataType::S8:
      return py::dtype("int8");
    case popef::DataType::S16:
      return py::dtype("int16");
    case popef::DataType::U16:
      return py::dtype("uint16");
    case popef::DataType::S32:
      return py::dtype("int32");
    case popef::DataType::U32:
      return py::dtype("uint32");
    case popef::DataType::S64:
      return py::dtype("int64");
    case popef::DataType::U64:
      return py::dtype("uint64");
    case popef::DataType::U8:
    case popef::DataType::F8:  // NumPy has no 8-bit floats: their bits
    case popef::DataType::F8143:
    case popef::DataType::F8152:
      break;
  }
  return py::dtype("uint8");
}

InputMemoryView InputViews(const Arrays& arrays) {
  InputMemoryView views;
  for (const auto& [name, array] : arrays) {
    views.emplace(name, ConstTensorMemoryView(array.data(), array.nbytes()));
  }
  return views;
}

OutputMemoryView OutputViews(Arrays& arrays) {
  OutputMemoryView views;
  for (auto& [name, array] : arrays) {
    views.emplace(name, TensorMemoryView(array.mutable_data(), array.nbytes()));
  }
  return views;
}

/// A queued request. Keeps its arrays alive until it is done, even if nobody waits for it.
class Future {
 public:
  Future(OutputFutureMemoryView futures, Arrays inputs, Arrays outputs)
      : futures_(std::move(futures)), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {}
  Future(Future&&) = default;
  ~Future() {
    const py::gil_scoped_release release;
    for (const auto& [name, future] : futures_) future.wait();
  }

  void Wait() const {
    const py::gil_scoped_release release;
    for (const auto& [name, future] : futures_) future.get();
  }

  py::array Output(const std::string& name) const {
    const auto at = outputs_.find(name);
    if (at == outputs_.end()) throw py::key_error("the request has no output '" + name + "'");
    Wait();
    return at->second;
  }

 private:
  OutputFutureMemoryView futures_;
  Arrays inputs_;
  Arrays outputs_;
};

void Execute(ModelRunner& runner, const Arrays& inputs, Arrays outputs) {
  const InputMemoryView input_views = InputViews(inputs);
  const OutputMemoryView output_views = OutputViews(outputs);
  const py::gil_scoped_release release;
  runner.execute(input_views, output_views);
}

std::unique_ptr<Future> ExecuteAsync(ModelRunner& runner, Arrays inputs, Arrays outputs) {
  const InputMemoryView input_views = InputViews(inputs);
  const OutputMemoryView output_views = OutputViews(outputs);
  OutputFutureMemoryView futures = runner.executeAsync(input_views, output_views);
  return std::make_unique<Future>(std::move(futures), std::move(inputs), std::move(outputs));
}

std::string Repr(const DataDesc& desc) {
  std::string text = "DataDesc(name='" + desc.name + "', shape=[";
  for (std::size_t i = 0; i < desc.shape.size(); ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(desc.shape[i]);
  }
  return text + "], dtype=" + std::string(py::str(NumpyType(desc.dataType))) + ")";
}

void BindConfig(py::module_& module) {
  py::enum_<RunnerType>(module, "RunnerType")
      .value("ModelRunner", RunnerType::ModelRunner)
      .value("PackRunner", RunnerType::PackRunner)
      .value("ModelFusionRunner", RunnerType::ModelFusionRunner);
  py::class_<DeviceWaitConfig>(module, "DeviceWaitConfig")
      .def(py::init<int, int>(), py::arg("timeout_sec") = 1, py::arg("sleep_time_sec") = 6)
      .def_readwrite("timeout_sec", &DeviceWaitConfig::timeoutSec)
      .def_readwrite("sleep_time_sec", &DeviceWaitConfig::sleepTimeSec);
  py::class_<RuntimeConfig>(module, "RuntimeConfig")
      .def(py::init<>())
      .def_readwrite("runner_type", &RuntimeConfig::runnerType)
      .def_readwrite("device_wait_config", &RuntimeConfig::deviceWaitConfig)
      .def_readwrite("thread_safe", &RuntimeConfig::threadSafe)
      .def_property(
          "timeout_ns", [](const RuntimeConfig& config) { return config.timeoutNS.count(); },
          [](RuntimeConfig& config, std::int64_t timeout) {
            config.timeoutNS = std::chrono::nanoseconds(timeout);
          })
      .def_readwrite("validate_io_params", &RuntimeConfig::validateIOParams)
      .def_readwrite("batching_dim", &RuntimeConfig::batchingDim)
      .def_readwrite("check_package_hash", &RuntimeConfig::checkPackageHash)
      .def("__repr__", [](const RuntimeConfig& config) { return ToString(config); });
}

void BindDevices(py::module_& module) {
  py::class_<Device, std::shared_ptr<Device>>(module, "Device")
      .def("ipu_version", &Device::ipuVersion)
      .def("id", &Device::id);
  py::class_<DeviceManager>(module, "DeviceManager")
      .def(py::init<>())
      .def("ipu_hardware_version", &DeviceManager::ipuHardwareVersion)
      .def("get_num_devices", &DeviceManager::getNumDevices)
      .def(
          "get_device",
          [](const DeviceManager& manager, int num_ipus) {
            return std::make_shared<Device>(manager.getDevice(num_ipus));
          },
          py::arg("num_ipus") = 1)
      .def(
          "get_specific_device",
          [](const DeviceManager& manager, int device_id) {
            return std::make_shared<Device>(manager.getSpecificDevice(device_id));
          },
          py::arg("device_id"));
}

void BindRunner(py::module_& module) {
  py::class_<DataDesc>(module, "DataDesc")
      .def_readonly("name", &DataDesc::name)
      .def_property_readonly("shape", [](const DataDesc& desc) { return desc.shape; })
      .def_readonly("size_in_bytes", &DataDesc::sizeInBytes)
      .def_readonly("popef_contains_tensor_data", &DataDesc::popefContainsTensorData)
      .def("numpy_data_type", [](const DataDesc& desc) { return NumpyType(desc.dataType); })
      .def("__repr__", &Repr);
  py::class_<Future>(module, "Future")
      .def("wait", &Future::Wait)
      .def("__getitem__", &Future::Output);
  py::class_<ModelRunner>(module, "ModelRunner")
      .def(py::init<std::shared_ptr<Executable>, const RuntimeConfig&>(),
           py::call_guard<py::gil_scoped_release>())
      .def("execute", &Execute)
      .def("execute_async", &ExecuteAsync)
      .def("describe", &ModelRunner::describe)
      .def("get_execute_inputs", &ModelRunner::getExecuteInputs)
      .def("get_execute_outputs", &ModelRunner::getExecuteOutputs)
      .def("get_model_inputs", &ModelRunner::getModelInputs)
      .def("get_model_outputs", &ModelRunner::getModelOutputs);
}

}  // namespace
}  // namespace poprt::runtime

PYBIND11_MODULE(_runtime, module) {
  py::class_<poprt::Executable, std::shared_ptr<poprt::Executable>>(module, "Executable")
      .def(py::init<const std::string&>(), py::arg("path"))
      .def(py::init<const std::vector<std::string>&>(), py::arg("paths"))
      .def("is_fused", &poprt::Executable::isFused)
      .def("get_opaque_blobs", [](const poprt::Executable& executable) {
        py::dict blobs;
        for (const auto& [name, content] : executable.getOpaqueBlobs()) {
          blobs[py::str(name)] = py::bytes(content);
        }
        return blobs;
      });
  poprt::runtime::BindConfig(module);
  poprt::runtime::BindDevices(module);
  poprt::runtime::BindRunner(module);
}
