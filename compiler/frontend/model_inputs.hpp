#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/frontend/import.hpp"
#include "compiler/frontend/problems.hpp"
#include "runtime/tensor/shape.hpp"

namespace onnx {
class GraphProto;
class ValueInfoProto;
}  // namespace onnx

namespace poprt::frontend {

/// An input of the model that is no initializer; without a type when there is a problem with it.
struct ModelInput {
  std::string name;
  std::optional<TensorType> type;
};

/// The inputs of the model in their order, with the open dimensions fixed by the options.
std::vector<ModelInput> ResolveInputs(const onnx::GraphProto& graph, const ImportOptions& options,
                                      Problems& problems);

/// A sentence if the declaration contradicts the type or does not declare a tensor; open dimensions
/// and missing parts of the declaration contradict nothing.
std::optional<std::string> Contradiction(const onnx::ValueInfoProto& declared,
                                         const TensorType& type);

}  // namespace poprt::frontend
