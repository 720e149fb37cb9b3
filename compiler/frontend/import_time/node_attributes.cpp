#include "compiler/frontend/import_time/node_attributes.hpp"

#include <onnx/onnx_pb.h>

#include <stdexcept>

namespace poprt::frontend {
namespace {

using Proto = onnx::AttributeProto;

/// Older writers leave the type out.
void RequireKind(const Proto& proto, Proto::AttributeType wanted) {
  if (proto.type() == wanted || proto.type() == Proto::UNDEFINED) return;
  throw std::invalid_argument("attribute '" + proto.name() + "' is of kind " +
                              Proto::AttributeType_Name(proto.type()) + ", it must be of kind " +
                              Proto::AttributeType_Name(wanted));
}

}  // namespace

const Proto* NodeAttributes::find(std::string_view name) const {
  for (const Proto& proto : node_.attribute()) {
    if (proto.name() != name) continue;
    if (!proto.ref_attr_name().empty()) {
      throw std::invalid_argument("attribute '" + proto.name() +
                                  "' refers to an attribute of a function outside a function");
    }
    return &proto;
  }
  return nullptr;
}

std::int64_t NodeAttributes::get_int(std::string_view name, std::int64_t otherwise) const {
  const Proto* proto = find(name);
  if (proto == nullptr) return otherwise;
  RequireKind(*proto, Proto::INT);
  return proto->i();
}

float NodeAttributes::get_float(std::string_view name, float otherwise) const {
  const Proto* proto = find(name);
  if (proto == nullptr) return otherwise;
  RequireKind(*proto, Proto::FLOAT);
  return proto->f();
}

std::string NodeAttributes::get_string(std::string_view name, std::string_view otherwise) const {
  const Proto* proto = find(name);
  if (proto == nullptr) return std::string(otherwise);
  RequireKind(*proto, Proto::STRING);
  return proto->s();
}

Ints NodeAttributes::get_ints(std::string_view name) const {
  const Proto* proto = find(name);
  if (proto == nullptr) return {};
  RequireKind(*proto, Proto::INTS);
  return {proto->ints().begin(), proto->ints().end()};
}

Floats NodeAttributes::get_floats(std::string_view name) const {
  const Proto* proto = find(name);
  if (proto == nullptr) return {};
  RequireKind(*proto, Proto::FLOATS);
  return {proto->floats().begin(), proto->floats().end()};
}

std::vector<std::string> NodeAttributes::get_strings(std::string_view name) const {
  const Proto* proto = find(name);
  if (proto == nullptr) return {};
  RequireKind(*proto, Proto::STRINGS);
  return {proto->strings().begin(), proto->strings().end()};
}

}  // namespace poprt::frontend
