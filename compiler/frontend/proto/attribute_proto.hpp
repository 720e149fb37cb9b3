#pragma once

#include "absl/status/statusor.h"
#include "runtime/tensor/attributes.hpp"

namespace onnx {
class NodeProto;
}

namespace poprt::frontend {

class ExternalData;

/// The attributes of a node. Unimplemented for kinds without a counterpart (graphs, types, lists of
/// strings or tensors); InvalidArgument for duplicates and broken values.
absl::StatusOr<Attributes> AttributesFromProto(const onnx::NodeProto& node, ExternalData& external);

}  // namespace poprt::frontend
