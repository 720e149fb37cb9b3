#include "compiler/frontend/proto/value_proto.hpp"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "compiler/frontend/proto/tensor_proto.hpp"

namespace poprt::frontend {
namespace {

/// A sparse tensor of a few bytes can stand for any number of zeros.
constexpr std::int64_t kLargestDense = std::int64_t{1} << 31;

absl::StatusOr<StringTensor> StringsFromProto(const onnx::TensorProto& proto) {
  StringTensor strings{Shape(proto.dims().begin(), proto.dims().end()), {}};
  const std::optional<std::int64_t> count = CheckedElementCount(strings.shape);
  if (!count) {
    return absl::InvalidArgumentError("has the impossible shape " + ToString(strings.shape));
  }
  if (proto.has_raw_data() || proto.data_location() == onnx::TensorProto::EXTERNAL) {
    return absl::InvalidArgumentError("is of strings, which must be stored in string_data");
  }
  if (*count != proto.string_data_size()) {
    return absl::InvalidArgumentError("has " + std::to_string(proto.string_data_size()) +
                                      " elements in string_data, but " + ToString(strings) +
                                      " has " + std::to_string(*count));
  }
  strings.elements.assign(proto.string_data().begin(), proto.string_data().end());
  return strings;
}

/// The positions of the values in the dense tensor, ascending.
absl::StatusOr<Ints> PositionsOf(const onnx::SparseTensorProto& proto, const Shape& shape,
                                 std::int64_t values, ExternalData* external) {
  const absl::StatusOr<Tensor> indices = TensorFromProto(proto.indices(), external);
  if (!indices.ok()) {
    return absl::Status(indices.status().code(), "has indices of which the tensor " +
                                                     std::string(indices.status().message()));
  }
  const auto rank = static_cast<std::int64_t>(shape.size());
  const bool is_linear = indices->shape() == Shape{values};
  if (indices->element() != ElementType::kInt64 ||
      !(is_linear || indices->shape() == Shape{values, rank})) {
    return absl::InvalidArgumentError("has indices " + ToString(indices->type()) + ", allowed is " +
                                      ToString(TensorType{ElementType::kInt64, {values}}) + " or " +
                                      ToString(TensorType{ElementType::kInt64, {values, rank}}));
  }
  const auto elements = indices->as<std::int64_t>();
  const Shape strides = Strides(shape);
  const std::int64_t dense = ElementCount(shape);
  Ints positions;
  for (std::int64_t i = 0; i < values; ++i) {
    std::int64_t position = 0;
    bool is_inside = true;
    if (is_linear) {
      position = elements[static_cast<std::size_t>(i)];
      is_inside = position >= 0 && position < dense;
    } else {
      for (std::size_t d = 0; d < shape.size(); ++d) {
        const std::int64_t index = elements[static_cast<std::size_t>(i * rank) + d];
        is_inside = is_inside && index >= 0 && index < shape[d];
        if (is_inside) position += index * strides[d];
      }
    }
    if (!is_inside) {
      return absl::InvalidArgumentError("has index " + std::to_string(i) + " outside the shape " +
                                        ToString(shape));
    }
    if (!positions.empty() && position <= positions.back()) {
      return absl::InvalidArgumentError("has index " + std::to_string(i) +
                                        " out of order or twice; indices must ascend");
    }
    positions.push_back(position);
  }
  return positions;
}

}  // namespace

absl::StatusOr<HostValue> ValueFromProto(const onnx::TensorProto& proto, ExternalData* external) {
  if (proto.data_type() == onnx::TensorProto::STRING) {
    absl::StatusOr<StringTensor> strings = StringsFromProto(proto);
    if (!strings.ok()) return strings.status();
    return HostValue{*std::move(strings)};
  }
  absl::StatusOr<Tensor> tensor = TensorFromProto(proto, external);
  if (!tensor.ok()) return tensor.status();
  return HostValue{*std::move(tensor)};
}

absl::StatusOr<HostValue> ValueFromProto(const onnx::SparseTensorProto& proto,
                                         ExternalData* external) {
  const Shape shape(proto.dims().begin(), proto.dims().end());
  const std::optional<std::int64_t> count = CheckedElementCount(shape);
  absl::StatusOr<HostValue> values = ValueFromProto(proto.values(), external);
  if (!values.ok()) return values.status();
  const StringTensor* strings = values->strings();
  const Shape& stored = strings != nullptr ? strings->shape : values->tensor()->shape();
  if (shape.empty() || stored.size() != 1) {
    return absl::InvalidArgumentError("is sparse with dimensions " + ToString(shape) +
                                      " and values " + Describe(*values) +
                                      ", it must have dimensions and one list of values");
  }
  const std::size_t size =
      strings != nullptr ? sizeof(std::string) : ElementSize(values->tensor()->element());
  if (!count || *count > kLargestDense / static_cast<std::int64_t>(size)) {
    return absl::InvalidArgumentError("is sparse with dimensions " + ToString(shape) +
                                      ", its dense form would be larger than 2 GiB");
  }
  const absl::StatusOr<Ints> positions = PositionsOf(proto, shape, stored[0], external);
  if (!positions.ok()) return positions.status();
  if (strings != nullptr) {
    StringTensor dense{shape, std::vector<std::string>(static_cast<std::size_t>(*count))};
    for (std::size_t i = 0; i < positions->size(); ++i) {
      dense.elements[static_cast<std::size_t>((*positions)[i])] = strings->elements[i];
    }
    return HostValue{std::move(dense)};
  }
  Tensor dense({values->tensor()->element(), shape});
  for (std::size_t i = 0; i < positions->size(); ++i) {
    std::memcpy(dense.mutable_data() + static_cast<std::size_t>((*positions)[i]) * size,
                values->tensor()->data() + i * size, size);
  }
  return HostValue{std::move(dense)};
}

}  // namespace poprt::frontend
