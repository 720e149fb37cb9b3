#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/driver/convert.hpp"
#include "model_runtime/serving/engine.hpp"
#include "runtime/tensor/tensor.hpp"

namespace poprt::conformance {

/// Tensors by the names of a model's inputs or outputs.
using Tensors = std::map<std::string, Tensor>;

/// A container, compiled and loaded in memory.
class LoadedModel {
 public:
  static absl::StatusOr<LoadedModel> Make(driver::Converted converted);

  /// Runs one graph. `inputs` holds at least those that the graph has, under the names of its
  /// model. Gives all its outputs, under the names of its model.
  absl::StatusOr<Tensors> Run(std::size_t graph, const Tensors& inputs) const;

 private:
  /// What a graph takes and gives: name in its model and type.
  struct Interface {
    std::string prefix;  ///< before the model's names in the container
    std::vector<std::pair<std::string, TensorType>> inputs;
    std::vector<std::pair<std::string, TensorType>> outputs;
  };

  static Interface InterfaceOf(const ir::Graph& graph, const std::string& prefix);

  std::vector<Interface> graphs_;
  bool fused_ = false;
  std::unique_ptr<model_runtime::Engine> engine_;
};

}  // namespace poprt::conformance
