#include "compiler/ipu/plan/lifetimes.hpp"

#include <algorithm>
#include <vector>

namespace poprt::ipu {

void FindLifetimes(GraphPlan& graph) {
  std::vector<bool> used(graph.tensors.size(), false);
  const std::size_t last = graph.operators.empty() ? 0 : graph.operators.size() - 1;
  for (std::size_t i = 0; i < graph.operators.size(); ++i) {
    const OperatorPlan& op = graph.operators[i];
    for (const std::vector<TensorIndex>* tensors : {&op.inputs, &op.outputs}) {
      for (const TensorIndex t : *tensors) {
        TensorPlan& tensor = graph.tensors[t];
        if (!used[t]) tensor.first = tensor.always_live() ? 0 : i;
        used[t] = true;
        tensor.last = i;
      }
    }
  }
  for (TensorPlan& tensor : graph.tensors) {
    if (tensor.kind == TensorKind::kOutput) tensor.last = last;
    tensor.first = std::min(tensor.first, last);
    tensor.last = std::max(tensor.first, std::min(tensor.last, last));
  }
}

}  // namespace poprt::ipu
