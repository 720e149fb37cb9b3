#pragma once

#include "absl/status/status.h"

namespace onnx {
class NodeProto;
}

namespace poprt::frontend {

/// InvalidArgument with a line for each attribute of the node that no version of its operator,
/// which must be supported, has. The message names neither node nor operator.
absl::Status CheckAttributeNames(const onnx::NodeProto& node);

}  // namespace poprt::frontend
