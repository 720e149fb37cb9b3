#include "compiler/ipu/cost/pooling_vertex.hpp"

#include "compiler/ipu/cost/ceil_divide.hpp"
#include "compiler/ipu/cost/row_partition.hpp"

namespace poprt::ipu {

std::uint64_t PoolingVertexCycles(const Target& target, const PoolingVertex& vertex) {
  if (vertex.rows == 0 || vertex.row_elements == 0 || vertex.kernel_positions == 0) return 0;
  constexpr std::uint64_t kCyclesPerVector = 3;
  constexpr std::uint64_t kCyclesPerRow = 30;
  const std::uint64_t vector = VectorElements(target, vertex.format);
  const auto row = [&](std::uint64_t elements) {
    return kCyclesPerRow +
           kCyclesPerVector * vertex.kernel_positions * CeilDivide(elements, vector);
  };
  return target.worker_threads *
         CyclesOfRows(vertex.rows, vertex.row_elements, target.worker_threads, row).most;
}

}  // namespace poprt::ipu
