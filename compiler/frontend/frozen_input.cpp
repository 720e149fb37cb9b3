#include "compiler/frontend/frozen_input.hpp"

#include <onnx/onnx-data_pb.h>
#include <onnx/onnx_pb.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "compiler/frontend/proto/declared_type.hpp"
#include "compiler/frontend/proto/mapped_file.hpp"
#include "compiler/frontend/proto/npy_file.hpp"
#include "compiler/frontend/proto/value_proto.hpp"

namespace poprt::frontend {
namespace {

absl::StatusOr<HostValue> FromSequence(const onnx::SequenceProto& proto);
absl::StatusOr<HostValue> FromOptional(const onnx::OptionalProto& proto);

/// The values of one field of a sequence.
template <typename Field, typename Convert>
absl::Status Append(const Field& field, const Convert& convert, HostValue::Sequence& sequence) {
  for (const auto& proto : field) {
    absl::StatusOr<HostValue> value = convert(proto);
    if (!value.ok()) {
      return absl::Status(value.status().code(),
                          "has an element " + std::to_string(sequence.elements.size()) + " that " +
                              std::string(value.status().message()));
    }
    sequence.elements.push_back(*std::move(value));
  }
  return absl::OkStatus();
}

absl::StatusOr<HostValue> FromTensor(const onnx::TensorProto& proto) {
  return ValueFromProto(proto, nullptr);
}

absl::StatusOr<HostValue> FromSparse(const onnx::SparseTensorProto& proto) {
  return ValueFromProto(proto, nullptr);
}

absl::StatusOr<HostValue> FromSequence(const onnx::SequenceProto& proto) {
  HostValue::Sequence sequence;
  absl::Status status;
  switch (proto.elem_type()) {
    case onnx::SequenceProto::UNDEFINED:
      if (proto.tensor_values_size() + proto.sequence_values_size() > 0) {
        status = absl::InvalidArgumentError("is a sequence that does not say of what");
      }
      break;
    case onnx::SequenceProto::TENSOR:
      status = Append(proto.tensor_values(), FromTensor, sequence);
      break;
    case onnx::SequenceProto::SPARSE_TENSOR:
      status = Append(proto.sparse_tensor_values(), FromSparse, sequence);
      break;
    case onnx::SequenceProto::SEQUENCE:
      status = Append(proto.sequence_values(), FromSequence, sequence);
      break;
    case onnx::SequenceProto::OPTIONAL:
      status = Append(proto.optional_values(), FromOptional, sequence);
      break;
    default:
      status = absl::UnimplementedError("is a sequence of maps, which are not supported");
  }
  if (!status.ok()) return status;
  return HostValue{std::move(sequence)};
}

absl::StatusOr<HostValue> ElementOf(const onnx::OptionalProto& proto) {
  switch (proto.elem_type()) {
    case onnx::OptionalProto::TENSOR:
      return FromTensor(proto.tensor_value());
    case onnx::OptionalProto::SPARSE_TENSOR:
      return FromSparse(proto.sparse_tensor_value());
    case onnx::OptionalProto::SEQUENCE:
      return FromSequence(proto.sequence_value());
    case onnx::OptionalProto::OPTIONAL:
      return FromOptional(proto.optional_value());
    default:
      return absl::UnimplementedError("is an optional map, which is not supported");
  }
}

absl::StatusOr<HostValue> FromOptional(const onnx::OptionalProto& proto) {
  const bool has_value = proto.has_tensor_value() || proto.has_sparse_tensor_value() ||
                         proto.has_sequence_value() || proto.has_map_value() ||
                         proto.has_optional_value();
  HostValue::Optional optional;
  if (has_value) {
    absl::StatusOr<HostValue> element = ElementOf(proto);
    if (!element.ok()) return element.status();
    optional.element.push_back(*std::move(element));
  }
  return HostValue{std::move(optional)};
}

template <typename Proto>
absl::StatusOr<Proto> Parse(std::string_view bytes, const std::string& message) {
  Proto proto;
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()) ||
      !proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::InvalidArgumentError("is truncated or not an ONNX " + message +
                                      ", which the type of the input asks for");
  }
  return proto;
}

template <typename Proto, typename Convert>
absl::StatusOr<HostValue> ParseAs(std::string_view bytes, const std::string& message,
                                  const Convert& convert) {
  const absl::StatusOr<Proto> proto = Parse<Proto>(bytes, message);
  if (!proto.ok()) return proto.status();
  return convert(*proto);
}

absl::Status Differs(const HostValue& value, const onnx::TypeProto& type) {
  return absl::InvalidArgumentError("is " + Describe(value) + ", but the model declares " +
                                    DeclaredType(type));
}

/// Whether a tensor of that element (the number of ONNX) and shape may be declared as such.
bool Fits(int element, const Shape& shape, const onnx::TypeProto::Tensor& declared) {
  if (declared.elem_type() != 0 && declared.elem_type() != element) return false;
  if (!declared.has_shape()) return true;
  if (declared.shape().dim_size() != static_cast<int>(shape.size())) return false;
  for (int i = 0; i < declared.shape().dim_size(); ++i) {
    const auto& dimension = declared.shape().dim(i);
    // Several exporters write -1 for an open dimension.
    const bool is_open = !dimension.has_dim_value() || dimension.dim_value() == -1;
    if (!is_open && dimension.dim_value() != shape[static_cast<std::size_t>(i)]) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<HostValue> ParseFrozenProto(std::string_view bytes, const onnx::TypeProto& type) {
  switch (type.value_case()) {
    case onnx::TypeProto::kSequenceType:
      return ParseAs<onnx::SequenceProto>(bytes, "SequenceProto", FromSequence);
    case onnx::TypeProto::kOptionalType:
      return ParseAs<onnx::OptionalProto>(bytes, "OptionalProto", FromOptional);
    case onnx::TypeProto::kTensorType:
    case onnx::TypeProto::VALUE_NOT_SET:
      return ParseAs<onnx::TensorProto>(bytes, "TensorProto", FromTensor);
    default:
      return absl::UnimplementedError("is for an input that is " + DeclaredType(type) +
                                      ", which is not supported");
  }
}

absl::StatusOr<HostValue> ReadFrozenFile(const std::string& path, const onnx::TypeProto& type) {
  const bool is_npy = path.ends_with(".npy");
  if (!is_npy && !path.ends_with(".pb")) {
    return absl::InvalidArgumentError("'" + path +
                                      "' must be a .pb file (a TensorProto, SequenceProto or "
                                      "OptionalProto of ONNX) or a .npy file");
  }
  const absl::StatusOr<MappedFile> file = MappedFile::Open(path);
  if (!file.ok()) return file.status();
  absl::StatusOr<HostValue> value =
      is_npy ? ParseNpy(file->bytes()) : ParseFrozenProto(file->bytes(), type);
  if (value.ok()) return value;
  return absl::Status(value.status().code(),
                      "'" + path + "' " + std::string(value.status().message()));
}

absl::StatusOr<HostValue> FitTo(HostValue value, const onnx::TypeProto& type) {
  switch (type.value_case()) {
    case onnx::TypeProto::VALUE_NOT_SET:
      return value;
    case onnx::TypeProto::kTensorType: {
      const Tensor* tensor = value.tensor();
      const StringTensor* strings = value.strings();
      const bool fits =
          tensor != nullptr
              ? Fits(static_cast<int>(tensor->element()), tensor->shape(), type.tensor_type())
              : strings != nullptr &&
                    Fits(onnx::TensorProto::STRING, strings->shape, type.tensor_type());
      if (!fits) return Differs(value, type);
      return value;
    }
    case onnx::TypeProto::kSequenceType: {
      const HostValue::Sequence* sequence = value.sequence();
      if (sequence == nullptr) return Differs(value, type);
      HostValue::Sequence fitted;
      for (const HostValue& element : sequence->elements) {
        absl::StatusOr<HostValue> fit = FitTo(element, type.sequence_type().elem_type());
        if (!fit.ok()) {
          return absl::InvalidArgumentError("has an element " +
                                            std::to_string(fitted.elements.size()) + " that " +
                                            std::string(fit.status().message()));
        }
        fitted.elements.push_back(*std::move(fit));
      }
      return HostValue{std::move(fitted)};
    }
    case onnx::TypeProto::kOptionalType: {
      const HostValue::Optional* optional = value.optional();
      if (optional != nullptr && optional->element.empty()) return value;
      absl::StatusOr<HostValue> element =
          FitTo(optional != nullptr ? optional->element.front() : value,
                type.optional_type().elem_type());
      if (!element.ok()) return element.status();
      HostValue::Optional fitted;
      fitted.element.push_back(*std::move(element));
      return HostValue{std::move(fitted)};
    }
    default:
      return Differs(value, type);
  }
}

}  // namespace poprt::frontend
