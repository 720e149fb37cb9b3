#include "python/poprt/runner_bindings.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "poprt/executable.hpp"
#include "poprt/runtime/lightrunner.hpp"
#include "poprt/runtime/model_runner.hpp"
#include "poprt/runtime/pack_runner.hpp"
#include "python/poprt/arrays.hpp"
#include "python/poprt/config_bindings.hpp"
#include "python/poprt/element_types.hpp"
#include "python/unfinished_requests.hpp"

namespace py = pybind11;

namespace poprt::runtime {
namespace {

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

/// A queued request and all it needs until it is done.
struct Pending {
  Arrays inputs;
  Arrays outputs;
  OutputShapes shapes;  ///< filled when the futures are ready
  OutputFutureMemoryView futures;

  bool Ready() const { return python::AreReady(futures); }
};

/// Those of this process; never destroyed, since runners may outlive statics.
python::Orphans<Pending>& Orphans() {
  static auto* orphans = new python::Orphans<Pending>;
  return *orphans;
}

class Future {
 public:
  explicit Future(std::unique_ptr<Pending> pending) : pending_(std::move(pending)) {}
  Future(const Future&) = delete;
  Future& operator=(const Future&) = delete;
  ~Future() {
    if (!pending_->Ready()) Orphans().Add(std::move(pending_));
  }

  void Wait() const {
    for (const auto& output : pending_->futures) python::WaitFor(output.second);
  }

  py::array Output(const std::string& name) const {
    const auto at = pending_->outputs.find(name);
    if (at == pending_->outputs.end()) {
      throw py::key_error("the request has no output '" + name + "'");
    }
    Wait();
    return ResultOf(at->second, pending_->shapes.at(name));
  }

 private:
  std::unique_ptr<Pending> pending_;
};

/// Ends a runner without the interpreter lock, and the requests that waited for it.
template <typename Runner>
struct EndRunner {
  void operator()(Runner* runner) const {
    PyThreadState* const state = PyEval_SaveThread();  // which does not throw
    delete runner;
    PyEval_RestoreThread(state);
    Orphans().Sweep();
  }
};

template <typename Runner>
using RunnerPointer = std::unique_ptr<Runner, EndRunner<Runner>>;

/// Results of runners that do not tell their shapes are what they have written into.
template <typename Runner>
constexpr bool kTellsShapes = requires(Runner& runner, InputMemoryView inputs,
                                       OutputMemoryView outputs, OutputShapes shapes) {
  runner.execute(inputs, outputs, shapes);
};

template <typename Runner>
Arrays Execute(Runner& runner, const Arrays& inputs, Arrays outputs) {
  const InputMemoryView input_views = InputViews(inputs);
  const OutputMemoryView output_views = OutputViews(outputs);
  OutputShapes shapes = ShapesOf(outputs);
  {
    const py::gil_scoped_release release;
    if constexpr (kTellsShapes<Runner>) {
      runner.execute(input_views, output_views, shapes);
    } else {
      runner.execute(input_views, output_views);
    }
  }
  return ResultsOf(outputs, shapes);
}

template <typename Runner>
std::unique_ptr<Future> ExecuteAsync(Runner& runner, Arrays inputs, Arrays outputs) {
  auto pending = std::make_unique<Pending>();
  pending->inputs = std::move(inputs);
  pending->outputs = std::move(outputs);
  pending->shapes = ShapesOf(pending->outputs);
  const InputMemoryView input_views = InputViews(pending->inputs);
  const OutputMemoryView output_views = OutputViews(pending->outputs);
  {
    // A full queue makes this wait.
    const py::gil_scoped_release release;
    if (pending->outputs.empty()) {
      // No future would tell when the request is done with its arrays, so it runs now.
      runner.execute(input_views, output_views);
    } else if constexpr (kTellsShapes<Runner>) {
      pending->futures = runner.executeAsync(input_views, output_views, pending->shapes);
    } else {
      pending->futures = runner.executeAsync(input_views, output_views);
    }
  }
  Orphans().SweepSometimes();
  return std::make_unique<Future>(std::move(pending));
}

RunnerPointer<ModelRunner> MakeRunner(const std::shared_ptr<Executable>& executable,
                                      const PythonConfig& config) {
  const RuntimeConfig resolved = config.Resolved();
  const py::gil_scoped_release release;
  return RunnerPointer<ModelRunner>(new ModelRunner(executable, resolved));
}

RunnerPointer<LightRunner> MakeLightRunner(const std::shared_ptr<Executable>& executable,
                                           const PythonLightConfig& config) {
  const LightRunnerConfig resolved = config.Resolved();
  const py::gil_scoped_release release;
  return RunnerPointer<LightRunner>(new LightRunner(executable, resolved));
}

RunnerPointer<PackRunner> MakePackRunner(const std::shared_ptr<Executable>& executable,
                                         const PackRunnerConfig& config) {
  const py::gil_scoped_release release;
  return RunnerPointer<PackRunner>(new PackRunner(executable, config));
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

void BindRequests(py::module_& module) {
  py::class_<DataDesc>(module, "DataDesc")
      // Of the same element type as another tensor.
      .def(py::init([](std::string name, std::int64_t bytes, std::vector<std::int64_t> shape,
                       const DataDesc& like) {
             return DataDesc(std::move(name), bytes, std::move(shape), like.dataType);
           }),
           py::arg("name"), py::arg("size_in_bytes"), py::arg("shape"), py::arg("like"))
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
}

/// What all runners have.
template <typename Runner>
py::class_<Runner, RunnerPointer<Runner>> BindRunnerClass(py::module_& module, const char* name) {
  return py::class_<Runner, RunnerPointer<Runner>>(module, name)
      .def("execute", &Execute<Runner>)
      .def("execute_async", &ExecuteAsync<Runner>)
      .def("outputs_for",
           [](const Runner& runner, const Arrays& inputs) {
             return runner.outputsFor(InputViews(inputs));
           })
      .def("get_execute_inputs", &Runner::getExecuteInputs)
      .def("get_execute_outputs", &Runner::getExecuteOutputs)
      .def("get_model_inputs", &Runner::getModelInputs)
      .def("get_model_outputs", &Runner::getModelOutputs);
}

}  // namespace

void BindRunners(py::module_& module) {
  BindRequests(module);
  using ReleaseGil = py::call_guard<py::gil_scoped_release>;
  BindRunnerClass<ModelRunner>(module, "ModelRunner")
      .def(py::init(&MakeRunner))
      .def("describe", &ModelRunner::describe);
  BindRunnerClass<LightRunner>(module, "LightRunner")
      .def(py::init(&MakeLightRunner))
      .def("describe", &LightRunner::describe)
      .def("set_input_anchor",
           [](LightRunner& runner, const std::string& name, const py::array& array) {
             runner.setInputAnchor(name, {array.data(), static_cast<std::size_t>(array.nbytes())});
           })
      .def("update_weights", &LightRunner::updateWeights, ReleaseGil())
      .def("stop", &LightRunner::stop, ReleaseGil())
      .def("reload", &LightRunner::reload, ReleaseGil());
  BindRunnerClass<PackRunner>(module, "PackRunner").def(py::init(&MakePackRunner));
}

}  // namespace poprt::runtime
