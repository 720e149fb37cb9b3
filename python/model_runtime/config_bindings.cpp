#include <pybind11/stl.h>

#include <chrono>
#include <cstdint>
#include <ratio>
#include <string>
#include <utility>

#include "model_runtime/Errors.hpp"
#include "model_runtime/ModelRunnerConfig.hpp"
#include "python/model_runtime/bindings.hpp"

namespace py = pybind11;

namespace model_runtime {
namespace {

/// Python's timedelta has a range and a grain of its own: what is longer is forever here, and what
/// is forever here is the longest time of std::chrono there.
template <typename Duration>
Duration DurationOf(const py::object& value, const std::string& name) {
  const py::object timedelta = py::module_::import("datetime").attr("timedelta");
  const bool is_timedelta = py::isinstance(value, timedelta);
  if (!is_timedelta && !py::isinstance<py::int_>(value)) {
    const std::string unit =
        std::ratio_less_v<typename Duration::period, std::milli> ? "nanoseconds" : "seconds";
    throw py::type_error(name + " is " +
                         std::string(py::str(py::type::of(value).attr("__name__"))) +
                         ", allowed is datetime.timedelta or an int, the " + unit);
  }
  constexpr std::int64_t kPerSecond = Duration::period::den;
  py::object count = value;
  if (is_timedelta) {
    // Rounded up: a time that is not zero stays so.
    const py::object micros = value.attr("__floordiv__")(timedelta(0, 0, 1));
    constexpr std::int64_t kMicrosPerSecond = 1'000'000;
    count = kPerSecond >= kMicrosPerSecond
                ? py::object(micros * py::int_(kPerSecond / kMicrosPerSecond))
                : py::object(-((-micros).attr("__floordiv__")(py::int_(kMicrosPerSecond))));
  }
  const py::int_ longest(Duration::max().count());
  if (count > longest) return Duration::max();
  if (count < py::int_(0)) {
    throw py::value_error(name + " is " + std::string(py::str(value)) + ", which is negative");
  }
  return Duration(py::cast<std::int64_t>(count));
}

template <typename Duration>
py::object TimedeltaOf(Duration duration) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(duration);
  std::int64_t days = seconds.count() / 86400;
  constexpr std::int64_t kMaxDays = 999'999'999;
  const py::object timedelta = py::module_::import("datetime").attr("timedelta");
  if (days > kMaxDays) return timedelta.attr("max");
  const auto micros =
      std::chrono::duration_cast<std::chrono::microseconds>(duration - seconds).count();
  return timedelta(days, seconds.count() % 86400, micros);
}

template <typename Class, typename Object, typename Duration>
void BindDuration(Class& bound, const char* name, Duration Object::*field) {
  bound.def_property(
      name, [field](const Object& self) { return TimedeltaOf(self.*field); },
      [field, name](Object& self, const py::object& value) {
        self.*field = DurationOf<Duration>(value, name);
      });
}

}  // namespace

void BindErrors(py::module_& module) {
  // Translators run in reverse order of their registration: base classes first.
  const auto& error = py::register_exception<Error>(module, "Error", PyExc_RuntimeError);
  py::register_exception<application_runtime_error>(module, "application_runtime_error", error);
  py::register_exception<unknown_runtime_error>(module, "unknown_runtime_error", error);
  py::enum_<RecoveryAction>(module, "RecoveryAction")
      .value("IPU_RESET", RecoveryAction::IPU_RESET)
      .value("PARTITION_RESET", RecoveryAction::PARTITION_RESET)
      .value("FULL_RESET", RecoveryAction::FULL_RESET);
  static const auto* const recoverable =
      new py::exception<recoverable_runtime_error>(module, "recoverable_runtime_error", error);
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(std::move(thrown));
    } catch (const recoverable_runtime_error& fault) {
      const py::object type = *recoverable;
      const py::object instance = type(fault.what());
      instance.attr("_recovery_action") = fault.recoveryAction();
      PyErr_SetObject(recoverable->ptr(), instance.ptr());
    }
  });
}

void BindConfig(py::module_& module) {
  py::enum_<DeviceWaitStrategy>(module, "DeviceWaitStrategy")
      .value("NO_WAIT", DeviceWaitStrategy::NO_WAIT)
      .value("WAIT_WITH_TIMEOUT", DeviceWaitStrategy::WAIT_WITH_TIMEOUT)
      .value("WAIT_FOREVER", DeviceWaitStrategy::WAIT_FOREVER);
  using std::chrono::seconds;
  const py::object timedelta = py::module_::import("datetime").attr("timedelta");
  const py::object none = timedelta(0);
  const py::object sleep = timedelta(0, 15);
  py::class_<DeviceWaitConfig> wait(module, "DeviceWaitConfig");
  wait.def(py::init([](DeviceWaitStrategy strategy, const py::object& timeout,
                       const py::object& sleep_time) {
             return DeviceWaitConfig(strategy, DurationOf<seconds>(timeout, "timeout"),
                                     DurationOf<seconds>(sleep_time, "sleepTime"));
           }),
           py::arg("strategy"), py::arg("timeout") = none, py::arg("sleepTime") = sleep)
      .def(py::init<>())
      .def(py::init([](const py::object& timeout, const py::object& sleep_time) {
             return DeviceWaitConfig(DurationOf<seconds>(timeout, "timeout"),
                                     DurationOf<seconds>(sleep_time, "sleepTime"));
           }),
           py::arg("timeout"), py::arg("sleepTime") = sleep)
      .def_readwrite("strategy", &DeviceWaitConfig::strategy)
      .def("__repr__", [](const DeviceWaitConfig& self) {
        return "DeviceWaitConfig(strategy=" + std::string(py::str(py::cast(self.strategy))) +
               ", timeout=" + std::string(py::repr(TimedeltaOf(self.timeout))) +
               ", sleepTime=" + std::string(py::repr(TimedeltaOf(self.sleepTime))) + ")";
      });
  BindDuration(wait, "timeout", &DeviceWaitConfig::timeout);
  BindDuration(wait, "sleepTime", &DeviceWaitConfig::sleepTime);

  using Config = ModelRunnerConfig;
  py::class_<Config> config(module, "ModelRunnerConfig");
  config.def(py::init<>())
      .def_readwrite("replication_factor", &Config::replication_factor)
      .def_readwrite("device_wait_config", &Config::device_wait_config)
      .def_readwrite("thread_safe", &Config::thread_safe)
      .def_readwrite("validate_io_params", &Config::validate_io_params)
      .def_readwrite("batching_dim", &Config::batching_dim)
      .def_readwrite("check_package_hash", &Config::check_package_hash)
      .def_readwrite("verify_weights", &Config::verify_weights)
      .def_readwrite("auto_reset", &Config::auto_reset)
      .def_readwrite("ring_buffer_size_multiplier", &Config::ring_buffer_size_multiplier)
      .def_readwrite("flush_on_waiting_outputs", &Config::flush_on_waiting_outputs)
      .def_readwrite("is_batch_size_timeout_enabled", &Config::is_batch_size_timeout_enabled)
      .def_readwrite("request_tracepoints_buffer_size", &Config::request_tracepoints_buffer_size);
  BindDuration(config, "timeout_ns", &Config::timeout_ns);
  BindDuration(config, "batch_size_timeout_ns", &Config::batch_size_timeout_ns);
  BindDuration(config, "data_parallel_timeout_ns", &Config::data_parallel_timeout_ns);
}

}  // namespace model_runtime
