#include "compiler/frontend/control_flow/node_body.hpp"

#include <onnx/onnx_pb.h>

namespace poprt::frontend {

absl::StatusOr<Body> BodyOf(const NodeImport& import, const std::string& attribute) {
  for (const onnx::AttributeProto& proto : import.node.attribute()) {
    if (proto.name() != attribute || !proto.has_g()) continue;
    return Body{.graph = proto.g(), .structure = import.structure.bodies.at(&proto.g())};
  }
  return absl::InvalidArgumentError("attribute '" + attribute + "' is missing or no graph");
}

absl::Status CheckCounts(const Body& body, std::size_t inputs, std::size_t outputs, bool at_least) {
  const auto found_inputs = static_cast<std::size_t>(body.graph.input_size());
  const auto found_outputs = static_cast<std::size_t>(body.graph.output_size());
  if (found_inputs == inputs && (at_least ? found_outputs >= outputs : found_outputs == outputs)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("has " + std::to_string(found_inputs) + " inputs and " +
                                    std::to_string(found_outputs) + " outputs, it must have " +
                                    std::to_string(inputs) + " and " +
                                    (at_least ? "at least " : "") + std::to_string(outputs));
}

}  // namespace poprt::frontend
