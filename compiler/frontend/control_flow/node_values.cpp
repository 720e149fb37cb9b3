#include "compiler/frontend/control_flow/node_values.hpp"

#include <onnx/onnx_pb.h>

namespace poprt::frontend {

absl::StatusOr<ir::ValueId> AsScalar(GraphBuilder& builder, const ImportValue& value,
                                     ElementType element, const std::string& what) {
  const ir::ValueId* tensor = value.tensor();
  if (tensor == nullptr || builder.graph().type(*tensor).element != element ||
      ElementCount(builder.graph().type(*tensor).shape) != 1) {
    return absl::InvalidArgumentError(what + " is " + Describe(value, builder.graph()) +
                                      ", it must be one " + std::string(ElementName(element)));
  }
  if (builder.graph().type(*tensor).shape.empty()) return *tensor;
  return builder.Add(builder.graph().value(*tensor).name + "/scalar", "Reshape", {*tensor},
                     {{"shape", Ints{}}});
}

void DefineOutputs(const NodeImport& import, const std::vector<ImportValue>& results) {
  for (int i = 0; i < import.node.output_size(); ++i) {
    const std::string& name = import.node.output(i);
    if (!name.empty()) import.builder.DefineValue(name, results[static_cast<std::size_t>(i)]);
  }
}

}  // namespace poprt::frontend
