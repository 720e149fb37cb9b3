#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "compiler/ir/placement.hpp"
#include "runtime/tensor/attributes.hpp"

namespace onnx {
class NodeProto;
}

namespace poprt::frontend {

class ExternalData;

/// True for names that tools may use as they like, as ONNX has it: those that start with two
/// underscores.
bool IsToolAttribute(std::string_view name);

/// Where the node runs, if it says so. InvalidArgument for what is no integer in range and for
/// duplicates.
absl::StatusOr<ir::Placement> PlacementFromProto(const onnx::NodeProto& node);

/// The attributes of a node but those of tools. Unimplemented for kinds without a counterpart
/// (graphs, types, lists of strings or tensors); InvalidArgument for duplicates and broken values.
absl::StatusOr<Attributes> AttributesFromProto(const onnx::NodeProto& node, ExternalData& external);

}  // namespace poprt::frontend
