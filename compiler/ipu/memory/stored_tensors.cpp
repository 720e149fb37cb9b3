#include "compiler/ipu/memory/stored_tensors.hpp"

#include <algorithm>

namespace poprt::ipu {

TensorIndex StorageOf(const GraphPlan& graph, TensorIndex tensor) {
  return graph.tensors[tensor].storage.value_or(tensor);
}

std::vector<StoredTensor> StoredTensorsOf(const GraphPlan& graph) {
  std::vector<StoredTensor> stored(graph.tensors.size());
  for (TensorIndex t = 0; t < graph.tensors.size(); ++t) {
    const TensorPlan& tensor = graph.tensors[t];
    stored[t] = {.tensor = t, .first = tensor.first, .last = std::max(tensor.first, tensor.last)};
  }
  for (TensorIndex t = 0; t < graph.tensors.size(); ++t) {
    StoredTensor& storage = stored[StorageOf(graph, t)];
    storage.first = std::min(storage.first, stored[t].first);
    storage.last = std::max(storage.last, stored[t].last);
  }
  for (const OperatorPlan& op : graph.operators) {
    for (const std::vector<TensorIndex>* tensors : {&op.inputs, &op.outputs}) {
      for (const TensorIndex t : *tensors) {
        std::vector<std::uint32_t>& ipus = stored[StorageOf(graph, t)].ipus;
        const auto place = std::lower_bound(ipus.begin(), ipus.end(), op.ipu);
        if (place == ipus.end() || *place != op.ipu) ipus.insert(place, op.ipu);
      }
    }
  }
  std::erase_if(stored,
                [&](const StoredTensor& s) { return StorageOf(graph, s.tensor) != s.tensor; });
  for (StoredTensor& s : stored) {
    if (s.ipus.empty()) s.ipus.push_back(0);
  }
  return stored;
}

bool IsHostBuffer(const TensorPlan& tensor, std::uint32_t io_tiles) {
  const bool is_stream = tensor.kind == TensorKind::kInput || tensor.kind == TensorKind::kOutput;
  return is_stream && tensor.mapping.tiles.first < io_tiles;
}

}  // namespace poprt::ipu
