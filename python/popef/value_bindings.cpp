#include <pybind11/stl.h>

#include <cstdint>
#include <vector>

#include "popef/Types.hpp"
#include "python/popef/bindings.hpp"

namespace py = pybind11;

namespace popef {
namespace {

/// NumPy lacks bfloat16, the floats of 8 and 4 bits and the integers of 4 and 2 bits: arrays hold
/// their bits.
const char* NumpyName(DataType type) {
  switch (type) {
    case DataType::BOOL:
      return "bool";
    case DataType::F16:
      return "float16";
    case DataType::F32:
      return "float32";
    case DataType::F64:
      return "float64";
    case DataType::S8:
    case DataType::S4:
    case DataType::S2:
      return "int8";
    case DataType::S16:
      return "int16";
    case DataType::U16:
    case DataType::BF16:
      return "uint16";
    case DataType::S32:
      return "int32";
    case DataType::U32:
      return "uint32";
    case DataType::S64:
      return "int64";
    case DataType::U64:
      return "uint64";
    case DataType::U8:
    case DataType::U4:
    case DataType::U2:
    case DataType::F8:
    case DataType::F8143:
    case DataType::F8152:
    case DataType::F8E4M3FN:
    case DataType::F8E5M2:
    case DataType::F8E8M0:
    case DataType::F4E2M1:
      break;
  }
  return "uint8";
}

py::dtype NumpyTypeOf(DataType type) { return py::dtype(NumpyName(type)); }

/// What all value classes have: construction, comparison, copies, text.
template <typename T>
py::class_<T> BindValue(py::module_& module, const char* name) {
  return py::class_<T>(module, name)
      .def(py::init<>())
      .def(py::init<const T&>(), py::arg("other"))
      .def(
          "__eq__", [](const T& a, const T& b) { return a == b; }, py::is_operator())
      .def(
          "__ne__", [](const T& a, const T& b) { return !(a == b); }, py::is_operator())
      .def("__copy__", [](const T& self) { return self; })
      .def("__deepcopy__", [](const T& self, const py::dict&) { return self; })
      .def("__str__", &TextOf<T>)
      .def("__repr__", [name](const T& self) {
        const std::string text = TextOf(self);
        return name + (text.starts_with('{') ? text : "(" + text + ")");
      });
}

template <typename Class, typename Get, typename Set>
void Pair(Class& bound, const char* getter, Get get, const char* setter, Set set) {
  bound.def(getter, get).def(setter, set, py::arg("value"));
}

template <typename T>
void BindTensorInfoOf(py::class_<T>& bound) {
  bound.def(
      "tensorInfo", [](T& self) -> TensorInfo& { return self.tensorInfo(); },
      py::return_value_policy::reference_internal);
  bound.def("setTensorInfo", &T::setTensorInfo, py::arg("value"));
}

void BindEnums(py::module_& module) {
  py::enum_<BlobType>(module, "BlobType")
      .value("POPLAR_EXECUTABLE", BlobType::POPLAR_EXECUTABLE)
      .value("METADATA", BlobType::METADATA)
      .value("DATA_TENSOR", BlobType::DATA_TENSOR)
      .value("DATA_FEED", BlobType::DATA_FEED)
      .value("OPAQUE", BlobType::OPAQUE);
  py::enum_<DataType> types(module, "DataType");
  for (auto i = static_cast<std::uint16_t>(DataType::BOOL);
       i <= static_cast<std::uint16_t>(DataType::U2); ++i) {
    const auto type = static_cast<DataType>(i);
    types.value(TextOf(type).c_str(), type);
  }
  py::enum_<TensorType>(module, "TensorType")
      .value("UNKNOWN", TensorType::UNKNOWN)
      .value("INPUT", TensorType::INPUT)
      .value("OUTPUT", TensorType::OUTPUT);
  module.def("popefTypeToNumpyDType", &NumpyTypeOf, py::arg("data_type"),
             "The numpy.dtype of arrays that hold elements of this type.");
  module.def("sizeInBytes", &sizeInBytes, py::arg("data_type"), "Bytes of one element.");
}

void BindAnchor(py::module_& module) {
  auto anchor = BindValue<Anchor>(module, "Anchor");
  Pair(anchor, "name", &Anchor::name, "setName", &Anchor::setName);
  Pair(anchor, "handle", &Anchor::handle, "setHandle", &Anchor::setHandle);
  BindTensorInfoOf(anchor);
  Pair(
      anchor, "programs", [](const Anchor& self) { return self.programs(); }, "setPrograms",
      &Anchor::setPrograms);
  Pair(anchor, "type", &Anchor::type, "setType", &Anchor::setType);
  Pair(anchor, "isPerReplica", &Anchor::isPerReplica, "setIsPerReplica", &Anchor::setIsPerReplica);
  Pair(anchor, "useRemoteBuffers", &Anchor::useRemoteBuffers, "setUseRemoteBuffers",
       &Anchor::setUseRemoteBuffers);
  Pair(anchor, "repeats", &Anchor::repeats, "setRepeats", &Anchor::setRepeats);
}

void BindInfos(py::module_& module) {
  BindValue<Option>(module, "Option")
      .def(py::init<const std::string&, const std::string&>(), py::arg("name"), py::arg("value"))
      .def("name", &Option::name)
      .def("setName", &Option::setName, py::arg("value"))
      .def("value", &Option::value)
      .def("setValue", &Option::setValue, py::arg("value"));
  auto info = BindValue<TensorInfo>(module, "TensorInfo");
  info.def(py::init<DataType, const std::vector<std::int64_t>&>(), py::arg("data_type"),
           py::arg("shape"))
      .def("hasDataType", &TensorInfo::hasDataType)
      .def("sizeInBytes", &TensorInfo::sizeInBytes)
      .def("numpyDType", &NumpyType);
  Pair(
      info, "shape", [](const TensorInfo& self) { return self.shape(); }, "setShape",
      &TensorInfo::setShape);
  Pair(info, "dataType", &TensorInfo::dataType, "setDataType", &TensorInfo::setDataType);
  auto tensor = BindValue<TensorDataInfo>(module, "TensorDataInfo");
  Pair(tensor, "name", &TensorDataInfo::name, "setName", &TensorDataInfo::setName);
  BindTensorInfoOf(tensor);
  auto feed = BindValue<FeedDataInfo>(module, "FeedDataInfo");
  Pair(feed, "name", &FeedDataInfo::name, "setName", &FeedDataInfo::setName);
  BindTensorInfoOf(feed);
  Pair(feed, "numTensors", &FeedDataInfo::numTensors, "setNumTensors",
       &FeedDataInfo::setNumTensors);
  feed.def("sizeInBytes", &FeedDataInfo::sizeInBytes);
}

void BindMetadata(py::module_& module) {
  auto flow = BindValue<ProgramFlow>(module, "ProgramFlow");
  Pair(
      flow, "load", [](const ProgramFlow& self) { return self.load(); }, "setLoad",
      &ProgramFlow::setLoad);
  Pair(
      flow, "main", [](const ProgramFlow& self) { return self.main(); }, "setMain",
      &ProgramFlow::setMain);
  Pair(
      flow, "save", [](const ProgramFlow& self) { return self.save(); }, "setSave",
      &ProgramFlow::setSave);

  auto metadata = BindValue<Metadata>(module, "Metadata");
  Pair(metadata, "replicationFactor", &Metadata::replicationFactor, "setReplicationFactor",
       &Metadata::setReplicationFactor);
  Pair(metadata, "numIpus", &Metadata::numIpus, "setNumIpus", &Metadata::setNumIpus);
  Pair(metadata, "ipuVersion", &Metadata::ipuVersion, "setIpuVersion", &Metadata::setIpuVersion);
  Pair(metadata, "executable", &Metadata::executable, "setExecutable", &Metadata::setExecutable);
  Pair(metadata, "numProcesses", &Metadata::numProcesses, "setNumProcesses",
       &Metadata::setNumProcesses);
  Pair(metadata, "isPOD", &Metadata::isPOD, "setIsPOD", &Metadata::setIsPOD);
  Pair(metadata, "isInference", &Metadata::isInference, "setIsInference",
       &Metadata::setIsInference);
  Pair(metadata, "seedHandle", &Metadata::seedHandle, "setSeedHandle", &Metadata::setSeedHandle);
  Pair(
      metadata, "engineOptions", [](const Metadata& self) { return self.engineOptions(); },
      "setEngineOptions", &Metadata::setEngineOptions);
  Pair(
      metadata, "deviceOptions", [](const Metadata& self) { return self.deviceOptions(); },
      "setDeviceOptions", &Metadata::setDeviceOptions);
  Pair(
      metadata, "anchors", [](const Metadata& self) { return self.anchors(); }, "setAnchors",
      &Metadata::setAnchors);
  metadata.def(
      "programFlow", [](Metadata& self) -> ProgramFlow& { return self.programFlow(); },
      py::return_value_policy::reference_internal);
  metadata.def("setProgramFlow", &Metadata::setProgramFlow, py::arg("value"));
  Pair(
      metadata, "programsMap", [](const Metadata& self) { return self.programsMap(); },
      "setProgramsMap", &Metadata::setProgramsMap);
  Pair(metadata, "deviceIterations", &Metadata::deviceIterations, "setDeviceIterations",
       &Metadata::setDeviceIterations);
}

}  // namespace

py::dtype NumpyType(const TensorInfo& info) {
  if (!info.hasDataType()) throw Error("the TensorInfo has no element type: call setDataType");
  return NumpyTypeOf(info.dataType());
}

void BindValues(py::module_& module) {
  BindEnums(module);
  BindInfos(module);
  BindAnchor(module);
  BindMetadata(module);
}

}  // namespace popef
