#include "compiler/ipu/cost/reduction_vertex.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "compiler/ipu/cost/ceil_divide.hpp"

namespace poprt::ipu {
namespace {

// Elements that a worker reduces in one go, and what it costs.
struct ReductionLoop {
  std::uint64_t accumulators = 1;  // of the vector that is kept
  std::uint64_t elements = 1;      // loaded in a cycle: min(acc, dpw), or twice that
  std::uint64_t cycles = 1;        // of the operation
};

ReductionLoop LoopOf(const Target& target, const ReductionVertex& vertex) {
  const bool half = vertex.input == NumberFormat::kFloat16 || vertex.input == NumberFormat::kFloat8;
  const bool single = vertex.input == NumberFormat::kFloat32;
  // Only floats have vertices in assembler.
  if (!half && !single) return ReductionLoop{.cycles = 2};
  const std::uint64_t vector =
      VectorElements(target, half ? NumberFormat::kFloat16 : NumberFormat::kFloat32);
  if (vertex.log_add) {
    return ReductionLoop{.accumulators = vector, .elements = vector, .cycles = half ? 13U : 23U};
  }
  const std::uint64_t accumulators = half ? target.accumulators_fp16 : target.accumulators_fp32;
  return ReductionLoop{.accumulators = accumulators,
                       .elements = std::min(accumulators, vector * (vertex.interleaved ? 2 : 1))};
}

// Converting and storing a result.
std::uint64_t StoreCycles(const ReductionVertex& vertex) {
  return vertex.input == NumberFormat::kFloat32 ? 5 : 8;
}

std::uint64_t StridedCycles(const Target& target, const ReductionVertex& vertex) {
  const ReductionLoop loop = LoopOf(target, vertex);
  // Outputs that are no vectors shift every line of partials.
  const std::uint64_t elements = std::gcd(loop.elements, vertex.outputs);
  const std::uint64_t loops =
      CeilDivide(CeilDivide(vertex.outputs, elements), target.worker_threads);
  return target.worker_threads *
         (16 + loops * (3 + StoreCycles(vertex) + 3 + loop.cycles * (vertex.partials - 1)));
}

std::uint64_t RowCycles(const ReductionLoop& loop, std::uint64_t rows, std::uint64_t partials) {
  return loop.cycles * rows * CeilDivide(partials, loop.elements) + 12 * rows + 17;
}

// Fewer outputs than workers are cut into pieces, which are added in a second round.
std::uint64_t ContiguousCycles(const Target& target, const ReductionVertex& vertex) {
  const ReductionLoop loop = LoopOf(target, vertex);
  const std::uint64_t workers = target.worker_threads;
  const std::uint64_t whole = RowCycles(loop, CeilDivide(vertex.outputs, workers), vertex.partials);
  const std::uint64_t pieces = workers / std::min(vertex.outputs, workers);
  const std::uint64_t cut =
      RowCycles(loop, 1, CeilDivide(vertex.partials, pieces)) + RowCycles(loop, 1, pieces);
  return workers * (pieces > 1 ? std::min(whole, cut) : whole);
}

std::uint64_t ScalarCycles(const Target& target, const ReductionVertex& vertex) {
  const ReductionLoop loop = LoopOf(target, vertex);
  const std::uint64_t per_vector = std::max(loop.accumulators / loop.elements, loop.cycles);
  const std::uint64_t store = vertex.output == NumberFormat::kFloat32 ? 0 : 5;
  const auto once = [&](std::uint64_t partials) {
    return 17 + store + per_vector * (partials / loop.accumulators) + partials % loop.accumulators;
  };
  const std::uint64_t workers = target.worker_threads;
  // All workers and then one adds their results, or one for all when there are few.
  return workers * std::min(once(CeilDivide(vertex.partials, workers)) + once(workers),
                            once(vertex.partials));
}

std::uint64_t GeneralCycles(const Target& target, const ReductionVertex& vertex) {
  const ReductionLoop loop = LoopOf(target, vertex);
  const std::uint64_t outputs = CeilDivide(vertex.outputs, target.worker_threads);
  const auto log2 = static_cast<std::uint64_t>(std::bit_width(loop.accumulators) - 1);
  const std::uint64_t loads = CeilDivide(loop.accumulators, loop.elements) * loop.cycles;
  return target.worker_threads *
         (33 + 24 + 2 * log2 +
          CeilDivide(outputs, loop.accumulators) * (15 + vertex.partials * (17 + loads)));
}

}  // namespace

std::uint64_t ReductionVertexCycles(const Target& target, const ReductionVertex& vertex) {
  if (vertex.outputs == 0 || vertex.partials == 0) return 0;
  switch (vertex.layout) {
    case ReductionLayout::kStrided:
      return StridedCycles(target, vertex);
    case ReductionLayout::kContiguous:
      return ContiguousCycles(target, vertex);
    case ReductionLayout::kScalar:
      return ScalarCycles(target, vertex);
    case ReductionLayout::kGeneral:
      break;
  }
  return GeneralCycles(target, vertex);
}

}  // namespace poprt::ipu
