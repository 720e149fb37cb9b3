// Extension module poprt._compiler: the C++ interface of poprt::compiler. poprt/compiler.py is what
// users see.

#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "poprt/compiler/compiler.hpp"

namespace py = pybind11;

namespace poprt::compiler {
namespace {

/// Options with values set, and every reason why one could not be.
struct Changes {
  py::object options;
  std::string problems;
  bool unknown = false;  ///< some names are no options
};

/// ", the nearest are 'num_io_tiles'"; empty if no option is called nearly so.
std::string Nearest(const py::object& name, const py::object& type) {
  py::list known;
  for (const py::handle option : py::module_::import("builtins").attr("dir")(type)) {
    const auto text = option.cast<std::string>();
    if (!text.starts_with("_") && text != "from_dict") known.append(option);
  }
  const py::list near = py::module_::import("difflib").attr("get_close_matches")(name, known, 1);
  return near.empty() ? "" : ", the nearest is '" + near[0].cast<std::string>() + "'";
}

std::string NoOption(const py::str& name, const py::object& type) {
  return "CompilerOptions has no option '" + std::string(name) + "'" + Nearest(name, type);
}

/// options.name = value, with errors that say which option.
void SetOption(const py::object& options, const py::str& name, const py::object& value) {
  if (PyObject_GenericSetAttr(options.ptr(), name.ptr(), value.ptr()) == 0) return;
  const py::error_already_set error;
  const py::object type = py::type::of(options);
  if (error.matches(PyExc_AttributeError)) throw py::attribute_error(NoOption(name, type));
  throw py::type_error("option '" + std::string(name) + "' cannot be " +
                       std::string(py::repr(value)) + ", its default is " +
                       std::string(py::repr(type().attr(name))));
}

Changes Apply(const py::object& type, const py::dict& values) {
  Changes changes{.options = type(), .problems = "", .unknown = false};
  const auto add = [&](const std::string& problem) {
    changes.problems += (changes.problems.empty() ? "" : "\n") + problem;
  };
  for (const auto& [key, value] : values) {
    const py::str name(key);
    if (std::string(name).starts_with("_") || std::string(name) == "from_dict" ||
        !py::hasattr(changes.options, name)) {
      add(NoOption(name, type));
      changes.unknown = true;
      continue;
    }
    try {
      py::setattr(changes.options, name, value);
    } catch (py::error_already_set& error) {
      if (!error.matches(PyExc_TypeError)) throw;
      add(py::str(error.value()));
    }
  }
  return changes;
}

constexpr const char* kAuto = "auto";

py::object IoTiles(const CompilerOptions& options) {
  if (options.numIoTiles == kAutoIoTiles) return py::str(kAuto);
  return py::int_(options.numIoTiles);
}

/// An integer or "auto".
void SetIoTiles(CompilerOptions& options, const py::object& value) {
  if (py::isinstance<py::int_>(value)) {
    options.numIoTiles = value.cast<std::int64_t>();
  } else if (py::isinstance<py::str>(value) && value.cast<std::string>() == kAuto) {
    options.numIoTiles = kAutoIoTiles;
  } else {
    throw py::type_error("num_io_tiles is an integer or 'auto'");
  }
}

void BindOptions(py::module_& module) {
  using Options = CompilerOptions;
  py::class_<Options> options(module, "CompilerOptions");
  options.def(py::init<>())
      .def("__setattr__", SetOption)
      .def_readwrite("num_ipus", &Options::numIpus)
      .def_readwrite("auto_sharding", &Options::autoSharding)
      .def_readwrite("ipu_version", &Options::ipuVersion)
      .def_readwrite("target_config", &Options::targetConfig)
      .def_readwrite("platform", &Options::platform)
      .def_readwrite("allow_out_of_memory", &Options::allowOutOfMemory)
      .def_readwrite("batches_per_step", &Options::batchesPerStep)
      .def_readwrite("partials_type", &Options::partialsType)
      .def_readwrite("available_memory_proportion", &Options::availableMemoryProportion)
      .def_property("num_io_tiles", IoTiles, SetIoTiles)
      .def_readwrite("enable_model_fusion", &Options::enableModelFusion)
      .def_readwrite("enable_prefetch_datastreams", &Options::enablePrefetchDatastreams)
      .def_readwrite("stream_buffering_depth", &Options::streamBufferingDepth)
      .def_readwrite("serialize_ir", &Options::serializeIr)
      .def_readwrite("serialized_ir_dest", &Options::serializedIrDest)
      .def_readwrite("enable_gather_simplifier", &Options::enableGatherSimplifier)
      .def_readwrite("engine_options", &Options::engineOptions)
      .def_readwrite("show_compilation_progress_bar", &Options::showCompilationProgressBar)
      .def_readwrite("compilation_progress_logger", &Options::compilationProgressLogger)
      .def_readwrite("custom_patterns", &Options::customPatterns)
      .def_readwrite("custom_transform_applier_settings", &Options::customTransformApplierSettings)
      .def_readwrite("opaque_blobs", &Options::opaqueBlobs)
      .def_readwrite("use_128bit_conv_unit_load", &Options::use128bitConvUnitLoad)
      .def_readwrite("enable_multi_stage_reduce", &Options::enableMultiStageReduce)
      .def_readwrite("enable_fast_reduce", &Options::enableFastReduce)
      .def_readwrite("enable_outlining", &Options::enableOutlining)
      .def_readwrite("outline_threshold", &Options::outlineThreshold)
      .def_readwrite("group_host_sync", &Options::groupHostSync)
      .def_readwrite("rearrange_streams_on_host", &Options::rearrangeStreamsOnHost)
      .def_readwrite("rearrange_anchors_on_host", &Options::rearrangeAnchorsOnHost)
      .def_readwrite("enable_non_stable_softmax", &Options::enableNonStableSoftmax)
      .def_readwrite("enable_pipelining", &Options::enablePipelining)
      .def_readwrite("enable_engine_caching", &Options::enableEngineCaching)
      .def_readwrite("cache_path", &Options::cachePath)
      .def_readwrite("constant_weights", &Options::constantWeights)
      .def_readwrite("subgraph_copying_strategy", &Options::subgraphCopyingStrategy)
      .def_readwrite("virtual_graph_mode", &Options::virtualGraphMode)
      .def_readwrite("virtual_graph_split_ratios", &Options::virtualGraphSplitRatios)
      .def_readwrite("time_limit_scheduler", &Options::timeLimitScheduler)
      .def_readwrite("swap_limit_scheduler", &Options::swapLimitScheduler)
      .def_readwrite("transitive_closure_optimization_threshold",
                     &Options::transitiveClosureOptimizationThreshold);
  const py::object type = options;
  options
      .def(py::init([type](const py::kwargs& values) {
        const Changes changes = Apply(type, values);
        if (!changes.problems.empty()) throw py::type_error(changes.problems);
        return changes.options.cast<Options>();
      }))
      .def_static(
          "from_dict",
          [type](const py::dict& values) {
            const Changes changes = Apply(type, values);
            if (changes.unknown) throw py::attribute_error(changes.problems);
            if (!changes.problems.empty()) throw py::type_error(changes.problems);
            return changes.options;
          },
          py::arg("options"));
}

void BindInputs(py::module_& module) {
  py::class_<FrozenInput>(module, "FrozenInput")
      .def_static(
          "from_file",
          [](const std::string& path) { return FrozenInput{.path = path, .npy = std::nullopt}; })
      .def_static("from_npy", [](const py::bytes& content) {
        return FrozenInput{.path = "", .npy = std::string(content)};
      });
  py::class_<ModelInputs>(module, "ModelInputs")
      .def(py::init<>())
      .def_readwrite("shapes", &ModelInputs::shapes)
      .def_readwrite("frozen", &ModelInputs::frozen);
}

}  // namespace
}  // namespace poprt::compiler

PYBIND11_MODULE(_compiler, module) {
  using poprt::compiler::Compiler;
  using poprt::compiler::CompilerOptions;
  using poprt::compiler::ModelInputs;
  py::module_::import("poprt._runtime");  // knows Executable
  poprt::compiler::BindOptions(module);
  poprt::compiler::BindInputs(module);
  const py::call_guard<py::gil_scoped_release> release;
  module.def("compile", &Compiler::compile, release);
  module.def(
      "compile_and_export",
      py::overload_cast<const std::string&, const std::vector<std::string>&, const std::string&,
                        const CompilerOptions&, const ModelInputs&>(&Compiler::compileAndExport),
      release);
  module.def("compile_and_get_summary_report", &Compiler::compileAndGetSummaryReport, release);
}
