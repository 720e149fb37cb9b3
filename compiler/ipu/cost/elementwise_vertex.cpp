#include "compiler/ipu/cost/elementwise_vertex.hpp"

#include <algorithm>

#include "compiler/ipu/cost/ceil_divide.hpp"
#include "compiler/ipu/cost/elementwise_table.hpp"

namespace poprt::ipu {
namespace {

std::uint64_t InnerCycles(const ElementwiseLoop& loop, std::uint64_t elements) {
  return CeilDivide(elements, loop.elements) * loop.cycles;
}

// A worker before its loop, one region (section 2.7).
std::uint64_t WorkerOverhead(const ElementwiseVertex& vertex) {
  switch (Operands(vertex.op)) {
    case 1:
      if (vertex.in_place) return 55;
      return vertex.op == ElementwiseOp::kExp ? 33 : 17;
    case 2:
      if (vertex.in_place) return 58;
      return vertex.format == NumberFormat::kFloat32 ? 29 : 26;
    default:
      return 5 + 6;
  }
}

std::uint64_t SupervisorCycles(const Target& target, ElementwiseOp op) {
  constexpr std::uint64_t kUnaryMore = 9;
  switch (Operands(op)) {
    case 1:
      return target.elementwise_supervisor_cycles + kUnaryMore;
    case 2:
      return target.elementwise_supervisor_cycles;
    default:
      return 0;  // their vertices run on the workers alone
  }
}

std::uint64_t WholeCycles(const Target& target, const ElementwiseVertex& vertex,
                          const ElementwiseLoop& loop) {
  const std::uint64_t elements = CeilDivide(vertex.elements, target.worker_threads);
  return target.worker_threads * (WorkerOverhead(vertex) + InnerCycles(loop, elements)) +
         SupervisorCycles(target, vertex.op);
}

std::uint64_t BroadcastScalarCycles(const Target& target, const ElementwiseVertex& vertex,
                                    const ElementwiseLoop& loop) {
  const std::uint64_t elements = CeilDivide(vertex.elements, target.worker_threads);
  return target.worker_threads * (20 + InnerCycles(loop, elements)) +
         target.elementwise_supervisor_cycles;
}

// Rows too short to give every worker a vector are divided among the workers, of longer rows each
// worker takes some columns, as the library chooses.
std::uint64_t BroadcastVectorCycles(const Target& target, const ElementwiseVertex& vertex,
                                    const ElementwiseLoop& loop) {
  const std::uint64_t workers = target.worker_threads;
  const std::uint64_t rows = std::max<std::uint64_t>(vertex.rows, 1);
  const std::uint64_t columns = CeilDivide(vertex.elements, rows);
  const bool by_row = columns < workers * VectorElements(target, vertex.format);
  const std::uint64_t worker_rows = by_row ? CeilDivide(rows, workers) : rows;
  const std::uint64_t worker_columns = by_row ? columns : CeilDivide(columns, workers);
  const std::uint64_t row_overhead = vertex.aligned ? 7 : 25;
  return workers * (15 + worker_rows * (row_overhead + InnerCycles(loop, worker_columns))) +
         target.elementwise_supervisor_cycles;
}

// Every region is computed by one worker; the library cuts them when there are fewer than workers.
std::uint64_t RegionsCycles(const Target& target, const ElementwiseVertex& vertex,
                            const ElementwiseLoop& loop) {
  const std::uint64_t workers = target.worker_threads;
  const std::uint64_t regions = std::max<std::uint64_t>(vertex.rows, workers);
  const std::uint64_t elements = CeilDivide(vertex.elements, regions);
  const int operands = Operands(vertex.op);
  const std::uint64_t start = operands == 1 || (operands == 2 && vertex.in_place) ? 20 : 5;
  const std::uint64_t region = operands == 3 ? 6 : 0;
  return workers * (start + CeilDivide(regions, workers) * (region + InnerCycles(loop, elements)));
}

bool ConvertsInHardware(NumberFormat from, NumberFormat to) {
  const auto float_or_half = [](NumberFormat format) {
    return format == NumberFormat::kFloat32 || format == NumberFormat::kFloat16;
  };
  const auto half_or_quarter = [](NumberFormat format) {
    return format == NumberFormat::kFloat16 || format == NumberFormat::kFloat8;
  };
  return (float_or_half(from) && float_or_half(to)) ||
         (half_or_quarter(from) && half_or_quarter(to));
}

// Conversions between 8-bit numbers, and between them and half, have loops of their own.
ElementwiseLoop NarrowCastLoop(NumberFormat from, NumberFormat to) {
  const auto is_byte = [](NumberFormat format) {
    return format == NumberFormat::kInt8 || format == NumberFormat::kBool;
  };
  if (is_byte(from) && to == NumberFormat::kFloat16) return {9, 4};
  if (from == NumberFormat::kFloat16 && is_byte(to)) return {16, 4};
  if (from == NumberFormat::kFloat8 && to == NumberFormat::kFloat8) return {13, 8};
  if (from == NumberFormat::kFloat8 && is_byte(to)) return {28, 8};
  if (is_byte(from) && to == NumberFormat::kFloat8) return {37, 8};
  // Everything else converts one after the other: one cycle to load or store, one to convert.
  return {2, 1};
}

// Two loads, or one store, at the width of the data path.
ElementwiseLoop WideCastLoop(const Target& target, NumberFormat from, NumberFormat to) {
  const std::uint64_t load = VectorElements(target, from);
  const std::uint64_t store = VectorElements(target, to);
  const std::uint64_t elements = std::min(2 * load, store);
  return {std::max(CeilDivide(elements, load), CeilDivide(elements, store)), elements};
}

}  // namespace

int Operands(ElementwiseOp op) {
  if (op >= ElementwiseOp::kSelect) return 3;
  return op >= ElementwiseOp::kExp ? 1 : 2;
}

std::uint64_t ElementwiseVertexCycles(const Target& target, const ElementwiseVertex& vertex) {
  if (vertex.elements == 0) return 0;
  const ElementwiseLoop loop =
      FindElementwiseLoop(target, vertex.op, vertex.format, vertex.form, vertex.in_place);
  switch (vertex.form) {
    case ElementwiseForm::kBroadcastScalar:
      return BroadcastScalarCycles(target, vertex, loop);
    case ElementwiseForm::kBroadcastVector:
      return BroadcastVectorCycles(target, vertex, loop);
    case ElementwiseForm::kRegions:
      return RegionsCycles(target, vertex, loop);
    case ElementwiseForm::kWhole:
      break;
  }
  return WholeCycles(target, vertex, loop);
}

std::uint64_t CastVertexCycles(const Target& target, NumberFormat from, NumberFormat to,
                               std::uint64_t elements) {
  // FP8 numbers may change their scale.
  if (elements == 0 || (from == to && from != NumberFormat::kFloat8)) return 0;
  const ElementwiseLoop loop = ConvertsInHardware(from, to) && from != to
                                   ? WideCastLoop(target, from, to)
                                   : NarrowCastLoop(from, to);
  constexpr std::uint64_t kSupervisor = 12;
  constexpr std::uint64_t kStart = 18;
  constexpr std::uint64_t kPrologue = 19;
  constexpr std::uint64_t kRemainder = 3;
  const std::uint64_t worker_elements = CeilDivide(elements, target.worker_threads);
  return kSupervisor + target.worker_threads *
                           (kStart + kPrologue + kRemainder + InnerCycles(loop, worker_elements));
}

std::uint64_t FillVertexCycles(const Target& target, NumberFormat format, std::uint64_t elements) {
  if (elements == 0) return 0;
  const std::uint64_t worker_elements = CeilDivide(elements, target.worker_threads);
  const std::uint64_t vectors = worker_elements / VectorElements(target, format);
  std::uint64_t start = 23;
  if (FormatBytes(format) == 2) start = 26;
  if (FormatBytes(format) == 1) {
    // Below 64 bytes, words are stored instead of vectors.
    if (worker_elements < 64) return target.worker_threads * (28 + worker_elements / 4);
    start = 39;
  }
  return target.worker_threads * (start + vectors);
}

std::uint64_t ScaledAddVertexCycles(const Target& target, NumberFormat format,
                                    std::uint64_t elements) {
  if (elements == 0) return 0;
  if (!IsFloatFormat(format)) return 67 + 26 * elements / 3;
  const std::uint64_t vector =
      VectorElements(target, format == NumberFormat::kFloat8 ? NumberFormat::kFloat16 : format);
  const std::uint64_t left = elements % vector;
  // The measurements of section 4.4 show that the last vectors are not counted up, and that a
  // worker ends a cycle later than the table of section 2.7 says.
  const std::uint64_t vectors = elements / vector / target.worker_threads;
  const std::uint64_t last = left == 0 ? 0 : 8;
  const std::uint64_t loop = vectors == 0 ? 0 : 6 + 3 * (vectors - 1);
  return (left == 0 ? 57 : 63) + target.worker_threads * (18 + 1 + loop + last);
}

}  // namespace poprt::ipu
