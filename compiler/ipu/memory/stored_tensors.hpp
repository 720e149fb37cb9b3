#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ipu/plan/plan.hpp"

namespace poprt::ipu {

/// A tensor with memory of its own, and how long that is in use: by itself, by views of it and by
/// what is computed in place of it.
struct StoredTensor {
  TensorIndex tensor = 0;
  std::size_t first = 0;  ///< operator
  std::size_t last = 0;
  std::vector<std::uint32_t> ipus = {};  ///< those whose operators use it, each has it; ascending
};

/// In the order of the tensors.
std::vector<StoredTensor> StoredTensorsOf(const GraphPlan& graph);

/// The tensor in whose memory the tensor is: often itself.
TensorIndex StorageOf(const GraphPlan& graph, TensorIndex tensor);

/// Whether the host writes or reads the tensor on I/O tiles, beside what the compute tiles do.
/// There is one such buffer for every input and output: it is copied to or from the tensor of the
/// compute tiles before the next transfer begins, so the two are the pair of a double buffer
/// (section 5.1). Two on the I/O tiles would not even fit where published programs run (section 4:
/// 12 MB of inputs on 32 tiles), and the documented rule for their number counts one.
bool IsHostBuffer(const TensorPlan& tensor, std::uint32_t io_tiles);

}  // namespace poprt::ipu
