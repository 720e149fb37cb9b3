#include "python/poprt/element_types.hpp"

#include <string_view>

namespace py = pybind11;

namespace poprt::runtime {

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

namespace {

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

}  // namespace

std::string ElementTypeName(popef::DataType type) {
  const std::string_view raw = RawBitsName(type);
  return raw.empty() ? std::string(py::str(NumpyType(type))) : std::string(raw);
}

}  // namespace poprt::runtime
