#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model_runtime/DeviceManager.hpp"
#include "model_runtime/ModelRunner.hpp"
#include "model_runtime/model/model_file.hpp"
#include "python/model_runtime/bindings.hpp"
#include "python/unfinished_requests.hpp"

namespace py = pybind11;

namespace model_runtime {
namespace {

using Types = std::unordered_map<std::string, py::dtype>;
using Arrays = std::vector<std::pair<std::string, py::array>>;
using Devices = std::map<unsigned, std::shared_ptr<Device>>;

/// Tensors of a request and what keeps their memory alive.
struct Request {
  InputMemoryView inputs;
  OutputMemoryView outputs;
  std::vector<py::object> input_arrays;
  Arrays output_arrays;
};

/// Arrays as requests use them: of the model's element type, in one piece. Unknown names pass: the
/// engine says which there are.
bool Usable(const py::handle& value, const Types& types, const std::string& name, bool written) {
  if (!py::isinstance<py::array>(value)) return false;
  const auto array = py::reinterpret_borrow<py::array>(value);
  if ((array.flags() & py::array::c_style) == 0 || (written && !array.writeable())) return false;
  const auto at = types.find(name);
  if (at == types.end()) return true;
  const py::dtype type = array.dtype();
  return type.is(at->second) || (type.num() == at->second.num() && type.byteorder() != '>');
}

/// An output's memory in the shape of its result, which takes the first bytes of it.
py::array ResultOf(const py::array& memory, const OutputShapes& shapes, const std::string& name) {
  const auto shape = shapes.find(name);
  if (shape == shapes.end()) return memory;  // the model has no such output: it was ignored
  py::ssize_t elements = 1;
  for (const std::int64_t extent : shape->second) elements *= extent;
  if (elements == memory.size()) return memory;  // in the shape its owner has given it
  return {memory.dtype(), {shape->second.begin(), shape->second.end()}, memory.data(), memory};
}

py::array ArrayOf(const TensorMemory& memory, const py::dtype& type,
                  const std::vector<std::int64_t>& shape) {
  auto owner = std::make_unique<TensorMemory>(memory);
  const py::capsule base(owner.get(), [](void* held) { delete static_cast<TensorMemory*>(held); });
  (void)owner.release();
  return {type, {shape.begin(), shape.end()}, memory.data.get(), base};
}

/// A queued request and all it needs until it is done.
struct Pending {
  Request request;
  OutputShapes shapes;
  OutputFutureMemory allocated;
  OutputFutureMemoryView given;

  bool Ready() const {
    return poprt::python::AreReady(allocated) && poprt::python::AreReady(given);
  }
};

using Orphans = poprt::python::Orphans<Pending>;

class Future {
 public:
  Future(std::unique_ptr<Pending> pending, std::shared_ptr<const Types> types,
         std::shared_ptr<Orphans> orphans)
      : pending_(std::move(pending)), types_(std::move(types)), orphans_(std::move(orphans)) {}
  Future(const Future&) = delete;
  Future& operator=(const Future&) = delete;
  ~Future() {
    if (!pending_->Ready()) orphans_->Add(std::move(pending_));
  }

  bool Ready() const { return pending_->Ready(); }

  void WaitAll() const {
    for (const auto& output : pending_->allocated) poprt::python::WaitFor(output.second);
    for (const auto& output : pending_->given) poprt::python::WaitFor(output.second);
  }

  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& output : pending_->allocated) names.push_back(output.first);
    for (const auto& output : pending_->request.output_arrays) names.push_back(output.first);
    std::sort(names.begin(), names.end());
    return names;
  }

  py::array Output(const std::string& name) const {
    for (const auto& [output, array] : pending_->request.output_arrays) {
      if (output != name) continue;
      WaitAll();
      return ResultOf(array, pending_->shapes, name);
    }
    const auto at = pending_->allocated.find(name);
    if (at == pending_->allocated.end()) {
      throw py::key_error("the request has no output '" + name + "'");
    }
    WaitAll();
    return ArrayOf(at->second.get(), types_->at(name), pending_->shapes.at(name));
  }

 private:
  std::unique_ptr<Pending> pending_;
  std::shared_ptr<const Types> types_;
  std::shared_ptr<Orphans> orphans_;
};

Types TypesOf(const py::dict& types) {
  Types result;
  for (const auto& [name, type] : types) {
    result.emplace(py::cast<std::string>(name), py::reinterpret_borrow<py::dtype>(type));
  }
  return result;
}

/// A ModelRunner on dicts of arrays. Whatever a dict holds besides usable arrays goes through
/// `convert`, which makes usable ones or raises.
class Runner {
 public:
  /// `frozen` and `flush` are dicts of inputs, and of inputs and outputs.
  Runner(std::shared_ptr<popef::Model> model, ModelRunnerConfig config, const py::dict& frozen,
         const std::pair<py::dict, py::dict>& flush, const Devices& devices,
         const py::dict& input_types, const py::dict& output_types, py::function convert)
      : input_types_(TypesOf(input_types)),
        output_types_(std::make_shared<Types>(TypesOf(output_types))),
        convert_(std::move(convert)),
        frozen_(Parse(frozen, py::dict())),
        flush_(Parse(flush.first, flush.second)) {
    config.frozen_inputs = frozen_.inputs;
    config.flush_by_name = {flush_.inputs, flush_.outputs};
    config.replica_id_to_device = devices;
    const py::gil_scoped_release release;
    runner_ = std::make_unique<ModelRunner>(std::move(model), config);
  }
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;
  ~Runner() {
    PyThreadState* const state = PyEval_SaveThread();  // which does not throw
    runner_.reset();
    PyEval_RestoreThread(state);
  }

  py::dict Execute(const py::object& inputs, unsigned replica_id) {
    const Request request = Parse(inputs, py::dict());
    OutputShapes shapes;
    OutputMemory outputs;
    {
      const py::gil_scoped_release release;
      outputs = runner_->execute(request.inputs, shapes, replica_id);
    }
    py::dict results;
    for (const auto& [name, memory] : outputs) {
      results[py::str(name)] = ArrayOf(memory, output_types_->at(name), shapes.at(name));
    }
    return results;
  }

  py::dict ExecuteInto(const py::object& inputs, const py::object& outputs, unsigned replica_id) {
    const Request request = Parse(inputs, outputs);
    OutputShapes shapes;
    {
      const py::gil_scoped_release release;
      runner_->execute(request.inputs, request.outputs, shapes, replica_id);
    }
    py::dict results;
    for (const auto& [name, array] : request.output_arrays) {
      results[py::str(name)] = ResultOf(array, shapes, name);
    }
    return results;
  }

  std::unique_ptr<Future> ExecuteAsync(const py::object& inputs, unsigned replica_id) {
    auto pending = std::make_unique<Pending>();
    pending->request = Parse(inputs, py::dict());
    {
      const py::gil_scoped_release release;
      pending->allocated =
          runner_->executeAsync(pending->request.inputs, pending->shapes, replica_id);
    }
    return MakeFuture(std::move(pending));
  }

  std::unique_ptr<Future> ExecuteAsyncInto(const py::object& inputs, const py::object& outputs,
                                           unsigned replica_id) {
    auto pending = std::make_unique<Pending>();
    pending->request = Parse(inputs, outputs);
    {
      const py::gil_scoped_release release;
      if (pending->request.outputs.empty()) {
        // No future would tell when the request is done with its inputs, so it runs now.
        runner_->execute(pending->request.inputs, pending->request.outputs, replica_id);
      } else {
        pending->given = runner_->executeAsync(pending->request.inputs, pending->request.outputs,
                                               pending->shapes, replica_id);
      }
    }
    return MakeFuture(std::move(pending));
  }

  const ModelRunner& Get() const { return *runner_; }

 private:
  std::unique_ptr<Future> MakeFuture(std::unique_ptr<Pending> pending) {
    orphans_->SweepSometimes();
    return std::make_unique<Future>(std::move(pending), output_types_, orphans_);
  }

  Request Parse(const py::object& inputs, const py::object& outputs) const {
    Request request;
    if (Fill(inputs, outputs, true, request)) return request;
    const py::tuple converted = convert_(inputs, outputs);
    request = Request();
    Fill(converted[0], converted[1], false, request);
    return request;
  }

  /// False if `check` is set and something has to be converted.
  bool Fill(const py::object& inputs, const py::object& outputs, bool check,
            Request& request) const {
    if (!py::isinstance<py::dict>(inputs) || !py::isinstance<py::dict>(outputs)) return false;
    for (const auto& [key, value] : py::reinterpret_borrow<py::dict>(inputs)) {
      if (!py::isinstance<py::str>(key)) return false;
      const auto name = py::cast<std::string>(key);
      if (check && !Usable(value, input_types_, name, false)) return false;
      auto array = py::reinterpret_borrow<py::array>(value);
      request.inputs.emplace(name, ConstTensorMemoryView(array.data(), array.nbytes()));
      request.input_arrays.push_back(std::move(array));
    }
    for (const auto& [key, value] : py::reinterpret_borrow<py::dict>(outputs)) {
      if (!py::isinstance<py::str>(key)) return false;
      const auto name = py::cast<std::string>(key);
      if (check && !Usable(value, *output_types_, name, true)) return false;
      auto array = py::reinterpret_borrow<py::array>(value);
      request.outputs.emplace(name, TensorMemoryView(array.mutable_data(), array.nbytes()));
      request.output_arrays.emplace_back(name, std::move(array));
    }
    return true;
  }

  Types input_types_;
  std::shared_ptr<const Types> output_types_;
  py::function convert_;
  Request frozen_;
  Request flush_;
  std::shared_ptr<Orphans> orphans_ = std::make_shared<Orphans>();
  std::unique_ptr<ModelRunner> runner_;
};

py::object NumpyType(const DataDesc& desc) {
  return py::module_::import("popef").attr("popefTypeToNumpyDType")(desc.data_type);
}

std::string Repr(const DataDesc& desc) {
  return "DataDesc(name=" + std::string(py::repr(py::str(desc.name))) +
         ", shape=" + std::string(py::repr(py::cast(desc.shape))) +
         ", data_type=" + std::string(py::str(py::cast(desc.data_type))) +
         ", size_in_bytes=" + std::to_string(desc.size_in_bytes) +
         (desc.popef_contains_tensor_data ? ", popef_contains_tensor_data=True" : "") +
         (desc.open_axis ? ", open_axis=" + std::to_string(*desc.open_axis) : "") + ")";
}

/// Seconds as time.monotonic() counts them, or None.
py::object SecondsOf(std::chrono::steady_clock::time_point time) {
  const std::chrono::duration<double> seconds = time.time_since_epoch();
  return seconds.count() == 0 ? py::object(py::none()) : py::float_(seconds.count());
}

void BindTracepoint(py::module_& module) {
  using Point = RequestTracepoint;
  py::enum_<RequestState>(module, "RequestState")
      .value("Queued", RequestState::Queued)
      .value("Running", RequestState::Running)
      .value("Succeeded", RequestState::Succeeded)
      .value("Failed", RequestState::Failed);
  py::class_<Point>(module, "RequestTracepoint",
                    "What has become of a request; times as time.monotonic() counts them.")
      .def_readonly("id", &Point::id)
      .def_readonly("replica_id", &Point::replica_id)
      .def_readonly("state", &Point::state)
      .def_property_readonly("queued", [](const Point& self) { return SecondsOf(self.queued); })
      .def_property_readonly("started", [](const Point& self) { return SecondsOf(self.started); })
      .def_property_readonly("finished", [](const Point& self) { return SecondsOf(self.finished); })
      .def("__repr__", [](const Point& self) {
        return "RequestTracepoint(id=" + std::to_string(self.id) +
               ", replica_id=" + std::to_string(self.replica_id) +
               ", state=" + std::string(py::str(py::cast(self.state))) +
               ", queued=" + std::string(py::str(SecondsOf(self.queued))) +
               ", started=" + std::string(py::str(SecondsOf(self.started))) +
               ", finished=" + std::string(py::str(SecondsOf(self.finished))) + ")";
      });
}

void BindDesc(py::module_& module) {
  py::class_<DataDesc>(module, "DataDesc")
      .def_readwrite("name", &DataDesc::name)
      .def_readwrite("size_in_bytes", &DataDesc::size_in_bytes)
      .def_property(
          "shape", [](const DataDesc& self) { return self.shape; },
          [](DataDesc& self, const std::vector<std::int64_t>& shape) { self.shape = shape; },
          "A new list every time.")
      .def_readwrite("data_type", &DataDesc::data_type)
      .def_readwrite("popef_contains_tensor_data", &DataDesc::popef_contains_tensor_data)
      .def_readonly("open_axis", &DataDesc::open_axis)
      .def("numpy_data_type", &NumpyType)
      .def("__repr__", &Repr);
}

}  // namespace

void BindRunner(py::module_& module) {
  BindDesc(module);
  BindTracepoint(module);
  py::class_<Future>(module, "Future")
      .def("wait", &Future::WaitAll)
      .def("ready", &Future::Ready)
      .def("names", &Future::Names)
      .def("output", &Future::Output);
  py::class_<Runner>(module, "Runner")
      .def(py::init<std::shared_ptr<popef::Model>, const ModelRunnerConfig&, const py::dict&,
                    const std::pair<py::dict, py::dict>&, const Devices&, const py::dict&,
                    const py::dict&, py::function>())
      .def("execute", &Runner::Execute)
      .def("execute_into", &Runner::ExecuteInto)
      .def("execute_async", &Runner::ExecuteAsync)
      .def("execute_async_into", &Runner::ExecuteAsyncInto)
      .def("execute_inputs", [](const Runner& self) { return self.Get().getExecuteInputs(); })
      .def("execute_outputs", [](const Runner& self) { return self.Get().getExecuteOutputs(); })
      .def("model_inputs", [](const Runner& self) { return self.Get().getModelInputs(); })
      .def("model_outputs", [](const Runner& self) { return self.Get().getModelOutputs(); })
      .def("tracepoints", [](const Runner& self) { return self.Get().requestTracepoints(); });
  module.def("read_model", &ReadModel, py::call_guard<py::gil_scoped_release>());
}

}  // namespace model_runtime
