#include "compiler/ipu/cost/hmac_vertex.hpp"

#include "compiler/ipu/cost/ceil_divide.hpp"
#include "compiler/ipu/cost/row_partition.hpp"

namespace poprt::ipu {
namespace {

// The dot product of the input channels of one output; two outputs at once with half partials.
std::uint64_t DotCycles(const Target& target, const HmacVertex& vertex) {
  const bool is_float = vertex.format.input == NumberFormat::kFloat32;
  const bool half_partials = !vertex.format.has_float_partials();
  const std::uint64_t outputs = half_partials ? 2 : 1;
  const std::uint64_t vector = VectorElements(target, vertex.format.input);
  std::uint64_t width = vector;
  while (vertex.in_group_channels % width != 0) width /= 2;
  // Less than a vector can't be loaded together with its weights.
  const std::uint64_t cycles_per_load = width == vector ? 1 : 2;
  const std::uint64_t warm_up = width == vector ? 0 : outputs;
  const std::uint64_t overhead = 3 * outputs + (half_partials ? 1 : 0) + 4;
  return overhead + warm_up + vertex.in_group_channels / width * cycles_per_load -
         (is_float ? 0 : 1);
}

// One kernel position: every worker walks its rows.
std::uint64_t BusiestWorkerCycles(const Target& target, const HmacVertex& vertex) {
  const bool is_float = vertex.format.input == NumberFormat::kFloat32;
  const std::uint64_t retained = is_float ? 0 : 6;
  const std::uint64_t outputs = vertex.format.has_float_partials()
                                    ? vertex.out_group_channels
                                    : CeilDivide(vertex.out_group_channels, 2);
  const std::uint64_t dot = DotCycles(target, vertex);
  const auto row = [&](std::uint64_t n) { return 19 + n * (7 + outputs * dot); };
  return 16 - retained +
         CyclesOfRows(vertex.rows, vertex.row_width, target.worker_threads, row).most;
}

// Zeroing the partials of a group of output channels, as in section 2.3.
std::uint64_t ZeroCycles(const Target& target, const HmacVertex& vertex) {
  const std::uint64_t vector = VectorElements(target, vertex.format.partials());
  const std::uint64_t elements =
      CeilDivide(vertex.rows * vertex.row_width * vertex.out_group_channels, target.worker_threads);
  return target.worker_threads * (CeilDivide(elements, vector) + 5);
}

}  // namespace

std::uint64_t HmacVertexCycles(const Target& target, const HmacVertex& vertex) {
  if (vertex.rows == 0 || vertex.row_width == 0 || vertex.kernel_positions == 0 ||
      vertex.in_group_channels == 0 || vertex.out_group_channels == 0 || vertex.in_groups == 0 ||
      vertex.out_groups == 0 || vertex.conv_groups == 0) {
    return 0;
  }
  constexpr std::uint64_t kOutsideOfLoops = 16;
  const std::uint64_t workers = target.worker_threads;
  const std::uint64_t inner =
      workers * (vertex.kernel_positions * BusiestWorkerCycles(target, vertex) + kOutsideOfLoops);
  const bool is_float = vertex.format.input == NumberFormat::kFloat32;
  const std::uint64_t retained = workers * ((vertex.format.has_float_partials() ? 9U : 10U) +
                                            (vertex.format.has_float_partials() ? 0U : 6U));
  return (is_float ? 58 : 65) + retained +
         vertex.conv_groups * vertex.out_groups * ZeroCycles(target, vertex) +
         vertex.conv_groups * (23 + vertex.in_groups * (15 + vertex.out_groups * (10 + inner)));
}

}  // namespace poprt::ipu
