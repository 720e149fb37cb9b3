#include "compiler/frontend/proto/attribute_proto.hpp"

#include <onnx/onnx_pb.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "compiler/frontend/proto/tensor_proto.hpp"

namespace poprt::frontend {
namespace {

using Proto = onnx::AttributeProto;

/// The kind; older writers leave it out, then the field that is set tells.
Proto::AttributeType KindOf(const Proto& proto) {
  if (proto.type() != Proto::UNDEFINED) return proto.type();
  if (proto.has_i()) return Proto::INT;
  if (proto.has_f()) return Proto::FLOAT;
  if (proto.has_s()) return Proto::STRING;
  if (proto.has_t()) return Proto::TENSOR;
  if (proto.ints_size() > 0) return Proto::INTS;
  if (proto.floats_size() > 0) return Proto::FLOATS;
  if (proto.strings_size() > 0) return Proto::STRINGS;
  return Proto::UNDEFINED;
}

absl::StatusOr<AttributeValue> ValueFromProto(const Proto& proto, ExternalData& external) {
  if (!proto.ref_attr_name().empty()) {
    return absl::InvalidArgumentError("refers to an attribute of a function outside a function");
  }
  switch (const Proto::AttributeType kind = KindOf(proto)) {
    case Proto::INT:
      return proto.i();
    case Proto::FLOAT:
      return proto.f();
    case Proto::STRING:
      return proto.s();
    case Proto::INTS:
      return Ints(proto.ints().begin(), proto.ints().end());
    case Proto::FLOATS:
      return Floats(proto.floats().begin(), proto.floats().end());
    case Proto::STRINGS:
      return Strings(proto.strings().begin(), proto.strings().end());
    case Proto::TENSOR: {
      absl::StatusOr<Tensor> tensor = TensorFromProto(proto.t(), &external);
      if (!tensor.ok()) return tensor.status();
      return *std::move(tensor);
    }
    case Proto::UNDEFINED:
      return absl::InvalidArgumentError("has no value");
    default:
      return absl::UnimplementedError("is of kind " + Proto::AttributeType_Name(kind) +
                                      ", which is not supported");
  }
}

}  // namespace

bool IsToolAttribute(std::string_view name) { return name.substr(0, 2) == "__"; }

absl::StatusOr<ir::Placement> PlacementFromProto(const onnx::NodeProto& node) {
  Attributes attributes;
  for (const Proto& proto : node.attribute()) {
    if (!ir::IsPlacement(proto.name())) continue;
    const std::string where = "attribute '" + proto.name() + "' ";
    if (attributes.has(proto.name())) return absl::InvalidArgumentError(where + "is given twice");
    if (KindOf(proto) != Proto::INT || !proto.ref_attr_name().empty()) {
      return absl::InvalidArgumentError(where + "is no integer");
    }
    attributes.set(proto.name(), proto.i());
  }
  try {
    return ir::PlacementOf(attributes);
  } catch (const std::invalid_argument& error) {
    return absl::InvalidArgumentError(error.what());
  }
}

absl::StatusOr<Attributes> AttributesFromProto(const onnx::NodeProto& node,
                                               ExternalData& external) {
  Attributes attributes;
  for (const Proto& proto : node.attribute()) {
    if (IsToolAttribute(proto.name())) continue;
    const std::string where = "attribute '" + proto.name() + "' ";
    if (attributes.has(proto.name())) {
      return absl::InvalidArgumentError(where + "is given twice");
    }
    absl::StatusOr<AttributeValue> value = ValueFromProto(proto, external);
    if (!value.ok()) {
      return absl::Status(value.status().code(), where + std::string(value.status().message()));
    }
    attributes.set(proto.name(), *std::move(value));
  }
  return attributes;
}

}  // namespace poprt::frontend
