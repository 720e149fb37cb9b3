// Extension module poprt._runtime: the C++ interface of poprt::runtime. poprt/runtime.py is what
// users see; it has checked the arrays before they come here.

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "poprt/executable.hpp"
#include "poprt/runtime/device_manager.hpp"
#include "poprt/runtime/model_runner.hpp"
#include "poprt/runtime/runtime_config.hpp"

namespace py = pybind11;

namespace poprt::runtime {
namespace {

using Arrays = std::map<std::string, py::array>;

/// What Python calls ReplicaIdToDevice: changes of it are seen by the configuration it belongs to.
struct ReplicaDevices {
  std::map<std::uint32_t, std::shared_ptr<Device>> devices;
};

/// A RuntimeConfig that owns what its C++ form only refers to.
struct PythonConfig {
  RuntimeConfig config;
  std::shared_ptr<ReplicaDevices> replicas = std::make_shared<ReplicaDevices>();
  std::pair<Arrays, Arrays> flush_arrays;

  RuntimeConfig Resolved() const {
    RuntimeConfig result = config;
    result.replicaIdToDevice = replicas->devices;
    return result;
  }
};

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
    case popef::DataType::S4:  // one element per byte
    case popef::DataType::S2:
      return py::dtype("int8");
    case popef::DataType::S16:
      return py::dtype("int16");
    case popef::DataType::U16:
    case popef::DataType::BF16:  // NumPy has no bfloat16: its bits
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
    case popef::DataType::U4:
    case popef::DataType::U2:
    case popef::DataType::F8:  // NumPy has no floats of 8 and 4 bits: their bits
    case popef::DataType::F8143:
    case popef::DataType::F8152:
    case popef::DataType::F8E4M3FN:
    case popef::DataType::F8E5M2:
    case popef::DataType::F8E8M0:
    case popef::DataType::F4E2M1:
      break;
  }
  return py::dtype("uint8");
}

/// The element type as ONNX names it, where NumPy has no such type; empty otherwise.
std::string_view RawBitsName(popef::DataType type) {
  switch (type) {
    case popef::DataType::BF16:
      return "bfloat16";
    case popef::DataType::F8143:
      return "float8e4m3fnuz";
    case popef::DataType::F8152:
      return "float8e5m2fnuz";
    case popef::DataType::F8E4M3FN:
      return "float8e4m3fn";
    case popef::DataType::F8E5M2:
      return "float8e5m2";
    case popef::DataType::F8E8M0:
      return "float8e8m0";
    case popef::DataType::F4E2M1:
      return "float4e2m1";
    case popef::DataType::S4:
      return "int4";
    case popef::DataType::U4:
      return "uint4";
    case popef::DataType::S2:
      return "int2";
    case popef::DataType::U2:
      return "uint2";
    default:
      return "";
  }
}

std::string ElementTypeName(popef::DataType type) {
  const std::string_view raw = RawBitsName(type);
  return raw.empty() ? std::string(py::str(NumpyType(type))) : std::string(raw);
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

/// The part of an output's memory that its result takes: all of it unless the output has an open
/// axis.
py::array ResultOf(const py::array& memory, const std::vector<std::int64_t>& shape) {
  if (std::equal(shape.begin(), shape.end(), memory.shape(), memory.shape() + memory.ndim())) {
    return memory;
  }
  return {memory.dtype(), {shape.begin(), shape.end()}, memory.data(), memory};
}

/// What the runner will correct: outputs that it ignores keep their shapes.
OutputShapes ShapesOf(const Arrays& outputs) {
  OutputShapes shapes;
  for (const auto& [name, memory] : outputs) {
    shapes[name].assign(memory.shape(), memory.shape() + memory.ndim());
  }
  return shapes;
}

Arrays ResultsOf(const Arrays& outputs, const OutputShapes& shapes) {
  Arrays results;
  for (const auto& [name, memory] : outputs) {
    results.emplace(name, ResultOf(memory, shapes.at(name)));
  }
  return results;
}

/// A queued request. Keeps its arrays alive until it is done, even if nobody waits for it.
class Future {
 public:
  Future(OutputFutureMemoryView futures, Arrays inputs, Arrays outputs,
         std::unique_ptr<OutputShapes> shapes)
      : futures_(std::move(futures)),
        inputs_(std::move(inputs)),
        outputs_(std::move(outputs)),
        shapes_(std::move(shapes)) {}
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
    return ResultOf(at->second, shapes_->at(name));
  }

 private:
  OutputFutureMemoryView futures_;
  Arrays inputs_;
  Arrays outputs_;
  std::unique_ptr<OutputShapes> shapes_;  ///< filled when the futures are ready
};

Arrays Execute(ModelRunner& runner, const Arrays& inputs, Arrays outputs) {
  const InputMemoryView input_views = InputViews(inputs);
  const OutputMemoryView output_views = OutputViews(outputs);
  OutputShapes shapes = ShapesOf(outputs);
  {
    const py::gil_scoped_release release;
    runner.execute(input_views, output_views, shapes);
  }
  return ResultsOf(outputs, shapes);
}

std::unique_ptr<Future> ExecuteAsync(ModelRunner& runner, Arrays inputs, Arrays outputs) {
  const InputMemoryView input_views = InputViews(inputs);
  const OutputMemoryView output_views = OutputViews(outputs);
  auto shapes = std::make_unique<OutputShapes>(ShapesOf(outputs));
  OutputFutureMemoryView futures;
  if (outputs.empty()) {
    // No future would tell when the request is done with its arrays, so it runs now.
    const py::gil_scoped_release release;
    runner.execute(input_views, output_views);
  } else {
    futures = runner.executeAsync(input_views, output_views, *shapes);
  }
  return std::make_unique<Future>(std::move(futures), std::move(inputs), std::move(outputs),
                                  std::move(shapes));
}

std::unique_ptr<ModelRunner> MakeRunner(std::shared_ptr<Executable> executable,
                                        const PythonConfig& config) {
  const RuntimeConfig resolved = config.Resolved();
  const py::gil_scoped_release release;
  return std::make_unique<ModelRunner>(std::move(executable), resolved);
}

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

std::string Repr(const Device& device) {
  return "<poprt.runtime.Device " + std::to_string(device.id()) + ", " + device.ipuVersion() + ">";
}

std::string Repr(const ReplicaDevices& replicas) {
  std::string text = "ReplicaIdToDevice({";
  for (const auto& [replica, device] : replicas.devices) {
    text += (text.back() == '{' ? "" : ", ") + std::to_string(replica) + ": " +
            (device == nullptr ? "None" : Repr(*device));
  }
  return text + "})";
}

std::string Repr(const DataDesc& desc) {
  std::string text = "DataDesc(name='" + desc.name + "', shape=[";
  for (std::size_t i = 0; i < desc.shape.size(); ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(desc.shape[i]);
  }
  text += "], dtype=" + ElementTypeName(desc.dataType);
  if (desc.openAxis) text += ", open_axis=" + std::to_string(*desc.openAxis);
  return text + ")";
}

/// A field as Python sees it: nanoseconds are integers, structs are changed in place.
template <typename Field>
void BindField(py::class_<PythonConfig>& config, const char* name, Field RuntimeConfig::*field) {
  config.def_property(
      name, [field](PythonConfig& self) -> Field& { return self.config.*field; },
      [field](PythonConfig& self, const Field& value) { self.config.*field = value; },
      py::return_value_policy::reference_internal);
}

void BindField(py::class_<PythonConfig>& config, const char* name,
               std::chrono::nanoseconds RuntimeConfig::*field) {
  config.def_property(
      name, [field](const PythonConfig& self) { return (self.config.*field).count(); },
      [field](PythonConfig& self, std::int64_t value) {
        self.config.*field = std::chrono::nanoseconds(value);
      });
}

/// A dict from replica id to Device.
void BindReplicas(py::module_& module) {
  using Self = ReplicaDevices;
  using Devices = std::map<std::uint32_t, std::shared_ptr<Device>>;
  py::class_<Self, std::shared_ptr<Self>>(module, "ReplicaIdToDevice")
      .def(py::init<>())
      .def(py::init([](Devices devices) { return Self{std::move(devices)}; }), py::arg("devices"))
      .def(
          "__setitem__",
          [](Self& self, std::uint32_t replica, std::shared_ptr<Device> device) {
            self.devices[replica] = std::move(device);
          },
          py::arg("replica_id"), py::arg("device").none(false))
      .def("__getitem__",
           [](const Self& self, std::uint32_t replica) {
             const auto at = self.devices.find(replica);
             if (at == self.devices.end()) throw py::key_error(std::to_string(replica));
             return at->second;
           })
      .def("__delitem__",
           [](Self& self, std::uint32_t replica) {
             if (self.devices.erase(replica) == 0) throw py::key_error(std::to_string(replica));
           })
      .def("__contains__",
           [](const Self& self, std::uint32_t replica) { return self.devices.contains(replica); })
      .def("__len__", [](const Self& self) { return self.devices.size(); })
      .def("__iter__", [](const Self& self) { return py::iter(py::cast(self.devices)); })
      .def("items", [](const Self& self) { return py::cast(self.devices).attr("items")(); })
      .def("__repr__", [](const Self& self) { return Repr(self); });
  py::implicitly_convertible<py::dict, Self>();
}

void BindConfig(py::module_& module) {
  py::enum_<RunnerType>(module, "RunnerType")
      .value("ModelRunner", RunnerType::ModelRunner)
      .value("PackRunner", RunnerType::PackRunner)
      .value("ModelFusionRunner", RunnerType::ModelFusionRunner);
  py::class_<DeviceWaitConfig>(module, "DeviceWaitConfig")
      .def(py::init<int, int>(), py::arg("timeout_sec") = 1, py::arg("sleep_time_sec") = 6)
      .def_property(
          "timeout_sec", [](const DeviceWaitConfig& self) { return self.timeoutSec.count(); },
          [](DeviceWaitConfig& self, int seconds) {
            self.timeoutSec = std::chrono::seconds(seconds);
          })
      .def_property(
          "sleep_time_sec", [](const DeviceWaitConfig& self) { return self.sleepTimeSec.count(); },
          [](DeviceWaitConfig& self, int seconds) {
            self.sleepTimeSec = std::chrono::seconds(seconds);
          });
  BindReplicas(module);
  py::class_<PythonConfig> config(module, "RuntimeConfig");
  config.def(py::init<>())
      .def_property(
          "replica_id_to_device", [](const PythonConfig& self) { return self.replicas; },
          [](PythonConfig& self, std::shared_ptr<ReplicaDevices> replicas) {
            if (replicas == nullptr) {
              throw py::type_error("replica_id_to_device is None, allowed is ReplicaIdToDevice");
            }
            self.replicas = std::move(replicas);
          })
      .def_property(
          "flush_by_name", [](const PythonConfig& self) { return self.flush_arrays; },
          [](PythonConfig& self, std::pair<Arrays, Arrays> arrays) {
            self.flush_arrays = std::move(arrays);
            self.config.flushByName = {InputViews(self.flush_arrays.first),
                                       OutputViews(self.flush_arrays.second)};
          })
      .def("__repr__", [](const PythonConfig& self) { return ToString(self.Resolved()); });
  BindField(config, "runner_type", &RuntimeConfig::runnerType);
  BindField(config, "device_wait_config", &RuntimeConfig::deviceWaitConfig);
  BindField(config, "thread_safe", &RuntimeConfig::threadSafe);
  BindField(config, "timeout_ns", &RuntimeConfig::timeoutNS);
  BindField(config, "validate_io_params", &RuntimeConfig::validateIOParams);
  BindField(config, "batching_dim", &RuntimeConfig::batchingDim);
  BindField(config, "check_package_hash", &RuntimeConfig::checkPackageHash);
  BindField(config, "verify_weights", &RuntimeConfig::verifyWeights);
  BindField(config, "ring_buffer_size_multiplier", &RuntimeConfig::ringBufferSizeMultiplier);
  BindField(config, "auto_reset", &RuntimeConfig::autoReset);
  BindField(config, "flush_on_waiting_outputs", &RuntimeConfig::flushOnWaitingOutputs);
  BindField(config, "batch_size_timeout_ns", &RuntimeConfig::batchSizeTimeoutNS);
  BindField(config, "data_parallel_timeout_ns", &RuntimeConfig::dataParallelTimeoutNS);
  BindField(config, "is_batch_size_timeout_enabled", &RuntimeConfig::isBatchSizeTimeoutEnabled);
  BindField(config, "request_tracepoints_buffer_size",
            &RuntimeConfig::requestTracepointsBufferSize);
}

void BindDevices(py::module_& module) {
  py::class_<Device, std::shared_ptr<Device>>(module, "Device")
      .def("ipu_version", &Device::ipuVersion)
      .def("id", &Device::id)
      .def("__repr__", [](const Device& device) { return Repr(device); });
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
      .def_readonly("open_axis", &DataDesc::openAxis)
      .def_property_readonly("element_type",
                             [](const DataDesc& desc) { return ElementTypeName(desc.dataType); })
      .def("numpy_data_type", [](const DataDesc& desc) { return NumpyType(desc.dataType); })
      .def("__repr__", [](const DataDesc& desc) { return Repr(desc); });
  py::class_<Future>(module, "Future")
      .def("wait", &Future::Wait)
      .def("__getitem__", &Future::Output);
  py::class_<ModelRunner>(module, "ModelRunner")
      .def(py::init(&MakeRunner))
      .def("execute", &Execute)
      .def("execute_async", &ExecuteAsync)
      .def("describe", &ModelRunner::describe)
      .def("outputs_for",
           [](const ModelRunner& runner, const Arrays& inputs) {
             return runner.outputsFor(InputViews(inputs));
           })
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
  poprt::runtime::BindConfig(module);
  poprt::runtime::BindRunner(module);
}
