#include "compiler/ipu/cost/slice_vertex.hpp"

#include "compiler/ipu/cost/ceil_divide.hpp"

namespace poprt::ipu {
namespace {

struct CopyLoop {
  std::uint64_t cycles = 2;
  std::uint64_t elements = 2;
};

CopyLoop RowLoop(NumberFormat format) {
  return FormatBytes(format) == 1 ? CopyLoop{.cycles = 3, .elements = 4} : CopyLoop{};
}

// The offsets that one worker looks at.
struct WorkerOffsets {
  std::uint64_t in_range = 0;
  std::uint64_t elsewhere = 0;
};

WorkerOffsets OffsetsOfWorker(const Target& target, const MultiSliceVertex& vertex) {
  const std::uint64_t in_range = CeilDivide(vertex.offsets_in_range, target.worker_threads);
  const std::uint64_t all = CeilDivide(vertex.offsets, target.worker_threads);
  return {.in_range = in_range, .elsewhere = all > in_range ? all - in_range : 0};
}

bool IsEmpty(const MultiSliceVertex& vertex) {
  return vertex.row_elements == 0 || (vertex.offsets == 0 && vertex.offsets_in_range == 0);
}

std::uint64_t CopyRowsCycles(const Target& target, const MultiSliceVertex& vertex,
                             std::uint64_t start) {
  if (IsEmpty(vertex)) return 0;
  constexpr std::uint64_t kPerRow = 19;
  constexpr std::uint64_t kElsewhere = 8;
  const CopyLoop loop = RowLoop(vertex.format);
  const WorkerOffsets offsets = OffsetsOfWorker(target, vertex);
  const std::uint64_t row = kPerRow + CeilDivide(vertex.row_elements, loop.elements) * loop.cycles;
  return target.worker_threads * (start + offsets.in_range * row + offsets.elsewhere * kElsewhere);
}

}  // namespace

std::uint64_t MultiSliceVertexCycles(const Target& target, const MultiSliceVertex& vertex) {
  return CopyRowsCycles(target, vertex, 30);
}

std::uint64_t MultiUpdateVertexCycles(const Target& target, const MultiSliceVertex& vertex) {
  return CopyRowsCycles(target, vertex, 29);
}

std::uint64_t MultiUpdateAddVertexCycles(const Target& target, const MultiSliceVertex& vertex) {
  if (IsEmpty(vertex)) return 0;
  constexpr std::uint64_t kStart = 33;
  constexpr std::uint64_t kPerAtom = 3;
  constexpr std::uint64_t kElsewhere = 5;
  const std::uint64_t bytes = FormatBytes(vertex.format);
  const std::uint64_t atoms = CeilDivide(vertex.row_elements * bytes, target.atomic_store_bytes);
  const WorkerOffsets offsets = OffsetsOfWorker(target, vertex);
  const std::uint64_t row = (bytes == 4 ? 11 : 12) + (atoms - 1) * kPerAtom;
  return target.worker_threads * (kStart + offsets.in_range * row + offsets.elsewhere * kElsewhere);
}

std::uint64_t DynamicSliceVertexCycles(const Target& target, NumberFormat format,
                                       std::uint64_t slices, std::uint64_t elements) {
  if (slices == 0 || elements == 0) return 0;
  constexpr std::uint64_t kSupervisor = 25;
  // Eight-bit elements are copied in words, with more care at the ends.
  const bool narrow = FormatBytes(format) == 1;
  const std::uint64_t vector = narrow ? 4 : VectorElements(target, format);
  const std::uint64_t copies = CeilDivide(elements, target.worker_threads) / vector;
  return kSupervisor +
         target.worker_threads * ((narrow ? 76 : 39) + slices * ((narrow ? 72 : 24) + 2 * copies));
}

}  // namespace poprt::ipu
