#include "compiler/ipu/cost/slic_vertex.hpp"

#include <algorithm>
#include <array>

#include "compiler/ipu/cost/row_partition.hpp"

namespace poprt::ipu {
namespace {

constexpr std::uint64_t kUnitsPerChain = 4;

// How the half vertex differs between its variants (section 2.4). With 2 chains of units every row
// is passed twice; with half partials such a vertex writes two outputs and merges them.
struct SlicPath {
  std::uint64_t passes = 1;
  bool float_partials = false;
  bool merges = false;
};

SlicPath PathOf(const Target& target, ProductFormat format) {
  const bool two_chains = ConvUnits(target, format) / kUnitsPerChain < 4;
  return SlicPath{.passes = two_chains ? 2U : 1U,
                  .float_partials = format.has_float_partials(),
                  .merges = two_chains && !format.has_float_partials()};
}

// A loop in the supervisor stalls 6 cycles in all rounds but the last.
std::uint64_t LoopCycles(std::uint64_t rounds) { return 6 * (rounds - 1) + 1; }

std::uint64_t ShortRowCycles(std::uint64_t n, bool zeroes) {
  if (zeroes) return 13 + (n > 1 ? n : 0);
  return n == 1 ? 13 : 17 + n;
}

std::uint64_t RowCycles(const SlicPath& path, std::uint64_t stride, std::uint64_t n, bool zeroes) {
  const std::uint64_t shortest_loop = path.merges ? 6 : 5;
  std::uint64_t cycles = 0;
  if (stride == 1) {
    cycles = n < shortest_loop ? ShortRowCycles(n, zeroes)
                               : 15 + (n - 5) + (!zeroes && path.merges ? 3 : 0);
  } else {
    cycles = n < 3 ? 10 + (n == 1 ? 3U : 5U) : 15 + 2 * (n - 3);
  }
  return path.float_partials ? cycles - 1 : cycles;
}

std::uint64_t BusiestWorkerCycles(const Target& target, const SlicVertex& vertex,
                                  const SlicPath& path, bool zeroes) {
  const std::uint64_t preamble = 17 + (vertex.groups_per_group > 4 ? 4 : 0);
  const auto row = [&](std::uint64_t n) {
    return (path.merges ? 9 : 10) + (zeroes ? 1 : 0) + (path.float_partials ? 3 : 0) +
           path.passes * RowCycles(path, vertex.stride, n, zeroes);
  };
  return preamble + CyclesOfRows(vertex.rows, vertex.row_width, target.worker_threads, row).most +
         (path.merges ? 2 : 0);
}

std::uint64_t WeightLoadCycles(const Target& target, const SlicVertex& vertex) {
  constexpr std::uint64_t kLoads = 16;
  if (vertex.group_channels == 4) return 18 + kLoads;
  // The workers rearrange the weights first.
  const std::uint64_t rearranging =
      (vertex.groups_per_group == 2 ? 12 : 10) + (vertex.groups_per_group > 4 ? 1 : 0);
  return 21 + rearranging * target.worker_threads + kLoads;
}

// The supervisor's part of one window of the kernel.
std::uint64_t SubKernelCycles(const Target& target, const SlicVertex& vertex,
                              const SlicPath& path) {
  const std::uint64_t load = WeightLoadCycles(target, vertex);
  if (vertex.groups_per_group <= 4) return load + (path.merges ? 16 : 20);
  const std::uint64_t strides = vertex.groups_per_group / 4;
  return (load + 21) * strides + LoopCycles(strides) + 15;
}

std::uint64_t HalfCycles(const Target& target, const SlicVertex& vertex) {
  const SlicPath path = PathOf(target, vertex.format);
  const std::uint64_t workers = target.worker_threads;
  const std::uint64_t strides = std::max<std::uint64_t>(vertex.groups_per_group / 4, 1);
  const std::uint64_t merging = path.merges ? 2 + 2 * vertex.rows * vertex.row_width : 0;
  const std::uint64_t first =
      workers * BusiestWorkerCycles(target, vertex, path, true) * strides + merging;
  const std::uint64_t later = workers * BusiestWorkerCycles(target, vertex, path, false) * strides;
  const std::uint64_t group_body = (path.merges ? 12 : 15) + (vertex.groups_per_group > 4 ? 8 : 0);
  const std::uint64_t kernel =
      SubKernelCycles(target, vertex, path) * vertex.sub_kernels + LoopCycles(vertex.sub_kernels);
  return (path.merges ? 25 : 28) + LoopCycles(vertex.conv_groups) +
         vertex.conv_groups * (group_body + kernel + first + (vertex.sub_kernels - 1) * later);
}

std::uint64_t QuarterRowCycles(std::uint64_t stride, std::uint64_t n, bool zeroes) {
  if (stride != 1) return n < 3 ? 6 + (n == 1 ? 3U : 6U) : 13 + 2 * (n - 3);
  if (zeroes) {
    constexpr std::array<std::uint64_t, 5> kShort{0, 3, 5, 9, 10};
    return n < 5 ? 8 + kShort[n] : 14 + (n - 5);
  }
  constexpr std::array<std::uint64_t, 5> kShort{0, 8, 10, 13, 13};
  constexpr std::uint64_t kAccumulating = 18;
  return kAccumulating + (n < 5 ? 2 + kShort[n] : 12 + (n - 5));
}

std::uint64_t QuarterCycles(const Target& target, const SlicVertex& vertex) {
  constexpr std::uint64_t kPasses = 2;
  const std::uint64_t workers = target.worker_threads;
  const auto all_workers = [&](bool zeroes) {
    const auto row = [&](std::uint64_t n) {
      return 24 + kPasses * QuarterRowCycles(vertex.stride, n, zeroes);
    };
    return workers * (20 + CyclesOfRows(vertex.rows, vertex.row_width, workers, row).most);
  };
  constexpr std::uint64_t kWeightLoad = 38;
  const std::uint64_t call = 6 * workers;
  const std::uint64_t first = call + kWeightLoad + 6 * workers + 12 + all_workers(true);
  const std::uint64_t later = call + kWeightLoad + 5 * workers + 8 + all_workers(false);
  return 43 + vertex.conv_groups * (13 * workers + 15 + first + (vertex.sub_kernels - 1) * later);
}

}  // namespace

std::uint64_t SlicVertexCycles(const Target& target, const SlicVertex& vertex) {
  if (vertex.rows == 0 || vertex.row_width == 0 || vertex.sub_kernels == 0 ||
      vertex.conv_groups == 0) {
    return 0;
  }
  return vertex.format.input == NumberFormat::kFloat8 ? QuarterCycles(target, vertex)
                                                      : HalfCycles(target, vertex);
}

}  // namespace poprt::ipu
