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

/// An input of the model that is no initializer: it has a type, or the value that it is frozen to,
/// or neither when there is a problem with it.
struct ModelInput {
  std::string name;
  std::optional<TensorType> type;
  std::optional<HostValue> frozen;
};

/// The inputs of the model in their order, with open dimensions and values fixed by the options.
std::vector<ModelInput> ResolveInputs(const onnx::GraphProto& graph, const ImportOptions& options,
                                      Problems& problems);

/// A sentence if the declaration contradicts the type or does not declare a tensor; open dimensions
/// and missing parts of the declaration contradict nothing. Nothing is said of `open_axis`, whose
/// extent the type only bounds.
std::optional<std::string> Contradiction(const onnx::ValueInfoProto& declared,
                                         const TensorType& type,
                                         std::optional<std::size_t> open_axis = std::nullopt);

}  // namespace poprt::frontend
