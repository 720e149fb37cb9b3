#pragma once

#include "absl/status/status.h"
#include "compiler/emit/onnx_node.hpp"

namespace poprt::emit {

/// Brings a node of newest form to that of an older opset, static inputs left aside. May write
/// nodes before it; the node itself becomes the last of its replacement. Unimplemented when the
/// opset has nothing like it; messages do not name the node.
absl::Status Downgrade(OnnxNode& node, OnnxNodeWriter& writer);

}  // namespace poprt::emit
