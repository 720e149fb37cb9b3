#include "compiler/ipu/cost/vmac_vertex.hpp"

#include "compiler/ipu/cost/ceil_divide.hpp"

namespace poprt::ipu {
namespace {

std::uint64_t Positions(const VmacVertex& vertex) { return vertex.rows * vertex.row_width; }

// Eight channels are multiplied at once when the partials are half too.
bool TakesEight(const VmacVertex& vertex) {
  return vertex.groups_per_group >= 8 && vertex.half_partials;
}

// `n` columns of a kernel row at one output position.
std::uint64_t DotCycles(std::uint64_t n, std::uint64_t channels) {
  return 3 + (channels >= 8 ? 3 * (n - 1) * (channels / 8) : 2 * (n - 1) * (channels / 4));
}

std::uint64_t WorkerCycles(const VmacVertex& vertex, std::uint64_t rows) {
  if (TakesEight(vertex)) {
    constexpr std::uint64_t kStoreAndReload = 15;
    const bool twice = vertex.groups_per_group > 8;
    return (twice ? 25 : 13) +
           rows * (twice ? 2 : 1) * (7 + kStoreAndReload + DotCycles(vertex.kernel_columns, 8));
  }
  return (vertex.half_partials ? 18 : 19) +
         rows * (7 + (vertex.half_partials ? 3 : 5) +
                 DotCycles(vertex.kernel_columns, vertex.groups_per_group));
}

// Every worker has partials of its own; they are added at the end.
std::uint64_t ReduceCycles(const Target& target, const VmacVertex& vertex) {
  const std::uint64_t per_round = vertex.half_partials ? 1 : 2;
  const std::uint64_t elements =
      CeilDivide(Positions(vertex) * vertex.groups_per_group, target.worker_threads);
  return (vertex.half_partials ? 10 : 9) +
         ((vertex.half_partials ? 7 : 9) + per_round * (target.worker_threads - 1)) *
             CeilDivide(elements, vertex.groups_per_group);
}

}  // namespace

std::uint64_t VmacVertexCycles(const Target& target, const VmacVertex& vertex) {
  if (Positions(vertex) == 0 || vertex.kernel_rows == 0 || vertex.kernel_columns == 0 ||
      vertex.groups_per_group == 0 || vertex.conv_groups == 0 || vertex.in_groups == 0) {
    return 0;
  }
  const std::uint64_t workers = target.worker_threads;
  // Positions are not cut: a worker has some more than another.
  const std::uint64_t rows = CeilDivide(Positions(vertex), workers) * vertex.kernel_rows;
  const std::uint64_t inner = workers * WorkerCycles(vertex, rows);
  const std::uint64_t zeroing =
      4 + CeilDivide(Positions(vertex) * vertex.groups_per_group, vertex.half_partials ? 4 : 2);
  constexpr std::uint64_t kSupervisor = 61;
  constexpr std::uint64_t kWorkerStart = 14;
  const std::uint64_t retained = vertex.half_partials ? 25 : 26;
  return kSupervisor + kWorkerStart + retained +
         vertex.conv_groups * (zeroing + 32 + vertex.in_groups * (24 + inner) +
                               workers * ReduceCycles(target, vertex));
}

}  // namespace poprt::ipu
