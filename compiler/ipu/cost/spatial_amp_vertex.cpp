#include "compiler/ipu/cost/spatial_amp_vertex.hpp"

#include <algorithm>

#include "compiler/ipu/cost/ceil_divide.hpp"
#include "compiler/ipu/cost/row_partition.hpp"

namespace poprt::ipu {
namespace {

constexpr std::uint64_t kRetained = 9;  // cycles saved in each item after the first

// One output row, or a piece of it, of n positions.
std::uint64_t ItemCycles(const Target& target, ProductFormat format, std::uint64_t n) {
  const bool is_float = format.input == NumberFormat::kFloat32;
  constexpr std::uint64_t kSetUp = 3;
  if (n == 0) return kSetUp + 17 - kRetained;
  if (n == 1) return kSetUp + (is_float ? 33 : 29) - kRetained;
  if (n == 2) {
    const std::uint64_t wide_stride =
        ConvOutputGroup(target, format) == (format.has_float_partials() ? 8U : 16U) ? 1 : 0;
    return kSetUp + (is_float ? 44 : 33 + wide_stride) - kRetained;
  }
  return kSetUp + (is_float ? 45 + 8 * (n - 3) : 34 + 4 * (n - 3)) - kRetained;
}

std::uint64_t QuarterItemCycles(std::uint64_t n) {
  constexpr std::uint64_t kSetUp = 16;
  if (n == 0) return kSetUp + 4;
  if (n == 1) return kSetUp + 18;
  if (n == 2) return kSetUp + 23;
  return kSetUp + 27 + 4 * (n - 3);
}

// All workers once.
std::uint64_t WorkersCycles(const Target& target, const SpatialAmpVertex& vertex) {
  const bool quarter = vertex.format.input == NumberFormat::kFloat8;
  const auto item = [&](std::uint64_t n) {
    return quarter ? QuarterItemCycles(n) : ItemCycles(target, vertex.format, n);
  };
  const std::uint64_t start = quarter ? 18 : (vertex.format.has_float_partials() ? 17 : 18);
  const std::uint64_t workers = target.worker_threads;
  const WorkerCycles cycles = CyclesOfRows(vertex.rows, vertex.row_width, workers, item);
  return std::max(workers * (start + cycles.most), workers * (start + cycles.least) + 9);
}

// Weights of filter height 4 are shuffled while they are loaded: no 128-bit loads. Fewer output
// channels than there are units take as many of them.
std::uint64_t LoadCycles(const Target& target, const SpatialAmpVertex& vertex) {
  const std::uint64_t units = ConvOutputGroup(target, vertex.format);
  const std::uint64_t all =
      CoefficientLoadCycles(target, vertex.format, vertex.load_128bit && vertex.filter_height != 4);
  return all * std::min(vertex.out_group_channels, units) / units;
}

// Setting up the loads: h of section 2.3.
std::uint64_t FilterCycles(std::uint64_t filter_height) {
  if (filter_height == 4) return 60;
  if (filter_height == 2) return 46;
  if (filter_height == 1) return 15;
  return 20 * filter_height;
}

std::uint64_t KernelCycles(const Target& target, const SpatialAmpVertex& vertex,
                           std::uint64_t passes) {
  const std::uint64_t load = LoadCycles(target, vertex) + FilterCycles(vertex.filter_height) + 3;
  return vertex.kernel_outer * (14 + vertex.kernel_inner * (12 + passes * load)) +
         vertex.kernel_outer * vertex.kernel_inner * passes * WorkersCycles(target, vertex);
}

// Zeroing the partials of a group of output channels.
std::uint64_t ZeroCycles(const Target& target, const SpatialAmpVertex& vertex) {
  const std::uint64_t vector = VectorElements(target, vertex.format.partials());
  const std::uint64_t elements =
      CeilDivide(vertex.rows * vertex.row_width * vertex.out_group_channels, target.worker_threads);
  return target.worker_threads * (CeilDivide(elements, vector) + 5);
}

std::uint64_t HalfAndFloatCycles(const Target& target, const SpatialAmpVertex& vertex,
                                 std::uint64_t passes) {
  const std::uint64_t workers = target.worker_threads;
  const std::uint64_t zero_retained = vertex.format.has_float_partials() ? 9 : 10;
  const std::uint64_t inner = KernelCycles(target, vertex, passes);
  return 109 + workers * kRetained + workers * zero_retained +
         vertex.conv_groups * (17 * vertex.out_groups + 6 * (vertex.out_groups - 1) + 1) +
         6 * (vertex.conv_groups - 1) + 1 +
         vertex.conv_groups * vertex.out_groups * ZeroCycles(target, vertex) +
         vertex.conv_groups * (16 + vertex.in_groups * (14 + vertex.out_groups * (14 + inner)));
}

// The 37, 58 and 61 of section 2.3 are these for 6 workers; the loops over the kernel are those of
// the library's estimator. The vertex zeroes by itself.
std::uint64_t QuarterCycles(const Target& target, const SpatialAmpVertex& vertex,
                            std::uint64_t passes) {
  const std::uint64_t workers = target.worker_threads;
  const std::uint64_t call = 6 * workers;
  const std::uint64_t load = LoadCycles(target, vertex);
  const std::uint64_t first = 9 * workers + 13 + call + load;
  const std::uint64_t later = 7 * workers + 8 + call + load;
  const std::uint64_t inner =
      vertex.kernel_outer *
          (5 * workers + 3 + passes * (first + (vertex.kernel_inner - 1) * later)) +
      vertex.kernel_outer * vertex.kernel_inner * passes * WorkersCycles(target, vertex);
  return 83 + vertex.conv_groups *
                  (5 * workers + 7 +
                   vertex.out_groups *
                       (8 * workers + 10 + vertex.in_groups * (8 * workers + 13 + inner)));
}

}  // namespace

std::uint64_t SpatialAmpVertexCycles(const Target& target, const SpatialAmpVertex& vertex) {
  const std::uint64_t units = ConvOutputGroup(target, vertex.format);
  if (vertex.rows == 0 || vertex.row_width == 0 || vertex.kernel_outer == 0 ||
      vertex.kernel_inner == 0 || vertex.in_groups == 0 || vertex.out_groups == 0 ||
      vertex.conv_groups == 0 || units == 0) {
    return 0;
  }
  const std::uint64_t passes = CeilDivide(vertex.out_group_channels, units);
  return vertex.format.input == NumberFormat::kFloat8 ? QuarterCycles(target, vertex, passes)
                                                      : HalfAndFloatCycles(target, vertex, passes);
}

}  // namespace poprt::ipu
