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
  // NOLINTNEXTLINE(bugprone-exception-escape): waiting for futures that are valid throws nothing.
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
  const InputMemoryView input_views = InputViews(inputs);
  const OutputMemoryView output_views = OutputViews(outputs);
  auto shapes = std::make_unique<OutputShapes>(ShapesOf(outputs));
  OutputFutureMemoryView futures;
  {
    // A full queue makes this wait.
    const py::gil_scoped_release release;
    if (outputs.empty()) {
      // No future would tell when the request is done with its arrays, so it runs now.
      runner.execute(input_views, output_views);
    } else if constexpr (kTellsShapes<Runner>) {
      futures = runner.executeAsync(input_views, output_views, *shapes);
    } else {
      futures = runner.executeAsync(input_views, output_views);
    }
  }
  return std::make_unique<Future>(std::move(futures), std::move(inputs), std::move(outputs),
                                  std::move(shapes));
}

std::unique_ptr<ModelRunner> MakeRunner(const std::shared_ptr<Executable>& executable,
                                        const PythonConfig& config) {
  const RuntimeConfig resolved = config.Resolved();
  const py::gil_scoped_release release;
  return std::make_unique<ModelRunner>(executable, resolved);
}

std::unique_ptr<LightRunner> MakeLightRunner(const std::shared_ptr<Executable>& executable,
                                             const PythonLightConfig& config) {
  const LightRunnerConfig resolved = config.Resolved();
  const py::gil_scoped_release release;
  return std::make_unique<LightRunner>(executable, resolved);
}

std::unique_ptr<PackRunner> MakePackRunner(const std::shared_ptr<Executable>& executable,
                                           const PackRunnerConfig& config) {
  const py::gil_scoped_release release;
  return std::make_unique<PackRunner>(executable, config);
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
py::class_<Runner> BindRunnerClass(py::module_& module, const char* name) {
  return py::class_<Runner>(module, name)
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
