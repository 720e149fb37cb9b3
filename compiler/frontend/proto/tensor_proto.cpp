#include "compiler/frontend/proto/tensor_proto.hpp"

#include <onnx/onnx_pb.h>

#include <bit>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "compiler/frontend/proto/external_data.hpp"

namespace poprt::frontend {
namespace {

static_assert(std::endian::native == std::endian::little, "ONNX stores raw data little-endian");

std::string DataTypeName(int data_type) {
  static constexpr std::string_view names[] = {
      "UNDEFINED",      "FLOAT",    "UINT8",        "INT8",           "UINT16",
      "INT16",          "INT32",    "INT64",        "STRING",         "BOOL",
      "FLOAT16",        "DOUBLE",   "UINT32",       "UINT64",         "COMPLEX64",
      "COMPLEX128",     "BFLOAT16", "FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2",
      "FLOAT8E5M2FNUZ", "UINT4",    "INT4",         "FLOAT4E2M1",     "FLOAT8E8M0",
      "UINT2",          "INT2"};
  if (data_type < 0 || data_type >= static_cast<int>(std::size(names))) return "";
  return std::string(names[data_type]);
}

absl::Status WrongCount(std::string_view field, std::int64_t found, const TensorType& type) {
  return absl::InvalidArgumentError("has " + std::to_string(found) + " elements in " +
                                    std::string(field) + ", but " + ToString(type) + " has " +
                                    std::to_string(ElementCount(type.shape)));
}

/// Elements of one of the typed fields, which are wider than many types that use them. Reading
/// modulo the width of the element is what ONNX means for the bits of float16 and bfloat16.
template <typename Element, typename Field>
absl::StatusOr<Tensor> FromField(TensorType type, std::string_view name, const Field& field) {
  if (field.size() != ElementCount(type.shape)) return WrongCount(name, field.size(), type);
  Tensor tensor(std::move(type));
  const auto elements = tensor.as_mutable<Element>();
  for (int i = 0; i < field.size(); ++i) {
    elements[static_cast<std::size_t>(i)] = static_cast<Element>(field.Get(i));
  }
  return tensor;
}

absl::StatusOr<Tensor> FromBools(TensorType type, const onnx::TensorProto& proto) {
  const auto& field = proto.int32_data();
  if (field.size() != ElementCount(type.shape)) return WrongCount("int32_data", field.size(), type);
  Tensor tensor(std::move(type));
  const auto elements = tensor.as_mutable<std::uint8_t>();
  for (int i = 0; i < field.size(); ++i) {
    elements[static_cast<std::size_t>(i)] = field.Get(i) != 0 ? 1 : 0;
  }
  return tensor;
}

/// Elements of 4 or 2 bits, the first in the lowest bits of a byte; the last byte may be partly
/// unused. `byte(i)` reads the i-th of `found` bytes.
template <typename Bytes>
absl::StatusOr<Tensor> FromPacked(TensorType type, std::int64_t found, const Bytes& byte) {
  const auto bits = static_cast<std::int64_t>(PackedBits(type.element));
  const std::int64_t per_byte = 8 / bits;
  const std::int64_t count = ElementCount(type.shape);
  const std::int64_t wanted = count / per_byte + (count % per_byte != 0 ? 1 : 0);
  if (found != wanted) {
    return absl::InvalidArgumentError("has " + std::to_string(found) + " packed bytes, but " +
                                      ToString(type) + " has " + std::to_string(wanted));
  }
  const bool is_signed = type.element == ElementType::kInt4 || type.element == ElementType::kInt2;
  const unsigned sign = is_signed ? 1U << (bits - 1) : 0;
  Tensor tensor(std::move(type));
  const auto elements = tensor.as_mutable<std::uint8_t>();
  for (std::int64_t i = 0; i < count; ++i) {
    const auto shift = static_cast<unsigned>(i % per_byte * bits);
    const unsigned value = static_cast<unsigned>(byte(i / per_byte)) >> shift & ((1U << bits) - 1);
    elements[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>((value ^ sign) - sign);
  }
  return tensor;
}

std::string Pack(const Tensor& tensor) {
  const std::size_t bits = PackedBits(tensor.element());
  const std::size_t per_byte = 8 / bits;
  const auto elements = tensor.as<std::uint8_t>();
  std::string packed((elements.size() + per_byte - 1) / per_byte, '\0');
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const unsigned value = (elements[i] & ((1U << bits) - 1)) << (i % per_byte * bits);
    char& byte = packed[i / per_byte];
    byte = static_cast<char>(static_cast<unsigned char>(byte) | value);
  }
  return packed;
}

bool IsPacked(ElementType element) { return PackedBits(element) < 8; }

absl::StatusOr<Tensor> FromFields(const TensorType& type, const onnx::TensorProto& proto) {
  switch (type.element) {
    case ElementType::kFloat32:
      return FromField<float>(type, "float_data", proto.float_data());
    case ElementType::kFloat64:
      return FromField<double>(type, "double_data", proto.double_data());
    case ElementType::kInt64:
      return FromField<std::int64_t>(type, "int64_data", proto.int64_data());
    case ElementType::kUint64:
      return FromField<std::uint64_t>(type, "uint64_data", proto.uint64_data());
    case ElementType::kUint32:
      return FromField<std::uint32_t>(type, "uint64_data", proto.uint64_data());
    case ElementType::kInt32:
      return FromField<std::int32_t>(type, "int32_data", proto.int32_data());
    case ElementType::kInt16:
      return FromField<std::int16_t>(type, "int32_data", proto.int32_data());
    case ElementType::kInt8:
      return FromField<std::int8_t>(type, "int32_data", proto.int32_data());
    case ElementType::kUint16:
    case ElementType::kFloat16:
    case ElementType::kBFloat16:
      return FromField<std::uint16_t>(type, "int32_data", proto.int32_data());
    case ElementType::kUint8:
    case ElementType::kFloat8E4M3FN:
    case ElementType::kFloat8E4M3FNUZ:
    case ElementType::kFloat8E5M2:
    case ElementType::kFloat8E5M2FNUZ:
    case ElementType::kFloat8E8M0:
      return FromField<std::uint8_t>(type, "int32_data", proto.int32_data());
    case ElementType::kBool:
      return FromBools(type, proto);
    case ElementType::kUint4:
    case ElementType::kInt4:
    case ElementType::kFloat4E2M1:
    case ElementType::kUint2:
    case ElementType::kInt2:
      return FromPacked(type, proto.int32_data_size(),
                        [&](std::int64_t i) { return proto.int32_data(static_cast<int>(i)); });
    case ElementType::kUndefined:
      break;
  }
  return absl::InternalError("element type without a field");
}

absl::StatusOr<Tensor> FromRaw(TensorType type, std::string_view raw) {
  if (IsPacked(type.element)) {
    return FromPacked(std::move(type), static_cast<std::int64_t>(raw.size()), [&](std::int64_t i) {
      return static_cast<unsigned char>(raw[static_cast<std::size_t>(i)]);
    });
  }
  if (raw.size() != type.bytes()) {
    return absl::InvalidArgumentError("has " + std::to_string(raw.size()) + " bytes, but " +
                                      ToString(type) + " has " + std::to_string(type.bytes()));
  }
  const bool is_bool = type.element == ElementType::kBool;
  Tensor tensor(std::move(type), raw.data());
  if (is_bool) {
    // Kernels rely on 0 and 1.
    for (std::uint8_t& element : tensor.as_mutable<std::uint8_t>()) element = element != 0 ? 1 : 0;
  }
  return tensor;
}

}  // namespace

absl::StatusOr<ElementType> ElementTypeFromProto(int data_type) {
  if (data_type > 0 && data_type < 256 && IsElementType(static_cast<std::uint8_t>(data_type))) {
    return static_cast<ElementType>(data_type);
  }
  const std::string name = DataTypeName(data_type);
  if (data_type == 0 || name.empty()) {
    return absl::InvalidArgumentError("element type " + std::to_string(data_type) +
                                      " is no ONNX element type");
  }
  return absl::UnimplementedError("element type " + name + " is not supported");
}

absl::StatusOr<Tensor> TensorFromProto(const onnx::TensorProto& proto, ExternalData* external) {
  const absl::StatusOr<ElementType> element = ElementTypeFromProto(proto.data_type());
  if (!element.ok()) return element.status();
  TensorType type{*element, Shape(proto.dims().begin(), proto.dims().end())};
  const std::optional<std::int64_t> count = CheckedElementCount(type.shape);
  // Far above any real tensor, and low enough for sizes in bytes to be computed safely.
  if (!count || *count > std::int64_t{1} << 48) {
    return absl::InvalidArgumentError("has the impossible shape " + ToString(type.shape));
  }
  if (proto.has_segment()) {
    return absl::UnimplementedError("is stored in segments, which is not supported");
  }
  if (proto.data_location() == onnx::TensorProto::EXTERNAL) {
    if (external == nullptr) {
      return absl::InvalidArgumentError("refers to external data, which is not allowed here");
    }
    absl::StatusOr<std::string_view> bytes = external->Find(proto);
    if (!bytes.ok()) return bytes.status();
    return FromRaw(std::move(type), *bytes);
  }
  if (proto.has_raw_data()) return FromRaw(std::move(type), proto.raw_data());
  return FromFields(type, proto);
}

void DescribeToProto(const TensorType& type, onnx::TensorProto* proto) {
  proto->set_data_type(static_cast<int>(type.element));
  for (std::int64_t extent : type.shape) proto->add_dims(extent);
}

void TensorToProto(const Tensor& tensor, onnx::TensorProto* proto) {
  DescribeToProto(tensor.type(), proto);
  if (IsPacked(tensor.element())) {
    proto->set_raw_data(Pack(tensor));
  } else {
    proto->set_raw_data(tensor.data(), tensor.bytes());
  }
}

}  // namespace poprt::frontend
