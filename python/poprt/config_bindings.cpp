#include "python/poprt/config_bindings.hpp"

#include <pybind11/stl.h>

#include <chrono>
#include <initializer_list>
#include <string>
#include <vector>

namespace py = pybind11;

namespace poprt::runtime {
namespace {

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

/// ReplicaIdToDevice under the names that programs use.
template <typename Config>
void BindReplicasOf(py::class_<Config>& config, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    config.def_property(
        name, [](const Config& self) { return self.replicas; },
        [name](Config& self, const std::shared_ptr<ReplicaDevices>& replicas) {
          if (replicas == nullptr) {
            throw py::type_error(std::string(name) + " is None, allowed is ReplicaIdToDevice");
          }
          self.replicas = replicas;
        });
  }
}

void BindRuntimeConfig(py::module_& module) {
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
          "flush_by_name", [](const PythonConfig& self) { return self.flush_arrays; },
          [](PythonConfig& self, std::pair<Arrays, Arrays> arrays) {
            self.flush_arrays = std::move(arrays);
            self.config.flushByName = {InputViews(self.flush_arrays.first),
                                       OutputViews(self.flush_arrays.second)};
          })
      .def("__repr__", [](const PythonConfig& self) { return ToString(self.Resolved()); });
  BindReplicasOf(config, {"replica_id_to_device"});
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

void BindLightConfig(py::module_& module) {
  py::class_<PythonLightConfig> config(module, "LightRunnerConfig");
  config.def(py::init<>())
      .def_property(
          "check_package_hash",
          [](const PythonLightConfig& self) { return self.config.checkPackageHash; },
          [](PythonLightConfig& self, bool value) { self.config.checkPackageHash = value; })
      .def_property(
          "device_wait_config",
          [](PythonLightConfig& self) -> DeviceWaitConfig& { return self.config.deviceWaitConfig; },
          [](PythonLightConfig& self, const DeviceWaitConfig& value) {
            self.config.deviceWaitConfig = value;
          },
          py::return_value_policy::reference_internal);
  BindReplicasOf(config, {"replica_to_device", "replica_id_to_device"});
}

void BindPackConfig(py::module_& module) {
  using Self = PackRunnerConfig;
  py::enum_<PackAlgorithm>(module, "PackAlgorithm")
      .value("first_fit", PackAlgorithm::FirstFit)
      .value("next_fit", PackAlgorithm::NextFit);
  py::class_<Self>(module, "PackRunnerConfig", py::dynamic_attr())
      .def(py::init<int, int, std::string, std::string>(), py::arg("timeout_microseconds") = 0,
           py::arg("max_valid_num") = 0, py::arg("dynamic_input_name") = "",
           py::arg("unpack_info_input_name") = "")
      .def_readwrite("runner_type", &Self::runnerType)
      .def_readwrite("device_wait_config", &Self::deviceWaitConfig)
      .def_readwrite("timeout_microseconds", &Self::timeoutInMicroSeconds)
      .def_readwrite("max_valid_num", &Self::maxValidNum)
      .def_readwrite("dynamic_input_name", &Self::dynamicInputName)
      .def_readwrite("unpack_info_input_name", &Self::unpackInfoInputName)
      .def_readwrite("compile_batch_size", &Self::compileBatchSize)
      .def_readwrite("mask_name", &Self::maskName)
      .def_readwrite("dynamic_group", &Self::dynamicGroup)
      .def_readwrite("algorithm", &Self::algo)
      .def_readwrite("algo", &Self::algo)
      .def_readwrite("disable_data_across_rows", &Self::disableDataAcrossRows)
      .def_readwrite("enable_padding_remove", &Self::enablePaddingRemove)
      .def_readwrite("delimiter_num", &Self::delimiterNum)
      .def_readwrite("enable_prefetch_datastreams", &Self::enablePrefetchDatastreams)
      .def("enable_padding_remove_mode", &Self::enablePaddingRemovePattern, py::arg("mask_name"),
           py::arg("dynamic_group") = std::vector<std::string>())
      .def("enable_input_single_row_mode", &Self::enableSingleRowMode, py::arg("mask_name"),
           py::arg("unpack_info_name") = "", py::arg("delimiter_num") = 0);
}

}  // namespace

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
          [](const DeviceManager& manager, int num_ipus) { return manager.getDevice(num_ipus); },
          py::arg("num_ipus") = 1)
      .def(
          "get_specific_device",
          [](const DeviceManager& manager, int device_id) {
            return manager.getSpecificDevice(device_id);
          },
          py::arg("device_id"));
}

void BindConfigs(py::module_& module) {
  BindRuntimeConfig(module);
  BindLightConfig(module);
  BindPackConfig(module);
}

}  // namespace poprt::runtime
