#include "compiler/ipu/cost/amp_vertex.hpp"

#include <algorithm>

#include "compiler/ipu/cost/ceil_divide.hpp"

namespace poprt::ipu {
namespace {

// Cycles that the workers keep by not loading again what they know from the call before: all of it,
// and what depends on the input channels (s1 and s2 of section 2.1).
struct Retention {
  std::uint64_t all = 0;
  std::uint64_t per_input_group = 0;
};
constexpr Retention kCommonRetention{.all = 7, .per_input_group = 3};

// Half inputs take the same path through the vertex with 16 units and half partials as with float
// partials.
bool IsCommonPath(const Target& target, ProductFormat format) {
  return format.input == NumberFormat::kFloat16 &&
         (format.has_float_partials() || ConvOutputGroup(target, format) == 16);
}

// The table of section 2.1: cycles of a worker for n positions. `zeroes` in the first pass, which
// does not add to partials.
std::uint64_t WorkerCyclesCommon(std::uint64_t n, bool zeroes) {
  const std::uint64_t exit = zeroes ? 1 : 2;
  if (n == 0) return 20 + exit - kCommonRetention.all;
  if (n == 1) return 31 + exit - kCommonRetention.all;
  if (n == 2) return 40 + exit - kCommonRetention.all;
  return (zeroes ? 37 : 38) + 4 * (n - 3) - kCommonRetention.all;
}

std::uint64_t WorkerCyclesHalfEightUnits(std::uint64_t n, bool zeroes) {
  const std::uint64_t zeroing = zeroes ? 2 + 2 * n : 0;
  if (n == 0) return 24;
  if (n == 1) return 39 + zeroing;
  if (n == 2) return 40 + zeroing;
  return 41 + zeroing + 4 * (n - 3);
}

std::uint64_t WorkerCyclesFloat(std::uint64_t n, bool zeroes, std::uint64_t units) {
  const std::uint64_t zeroing = zeroes ? 2 + (units == 16 ? 8 : 4) * n : 0;
  if (n == 0) return 24;
  if (n == 1) return 47 + zeroing;
  if (n == 2) return 46 + zeroing;
  return 46 + zeroing + 8 * (n - 3);
}

// Section 2.2.
std::uint64_t WorkerCyclesQuarter(std::uint64_t n, bool zeroes) {
  constexpr std::uint64_t kOverhead = 17;
  const std::uint64_t saved = zeroes ? 5 : 0;
  if (n == 0) return kOverhead + 4;
  if (n == 1) return kOverhead + 18 - saved;
  if (n == 2) return kOverhead + 23 - saved;
  return kOverhead + 27 - saved + 4 * (n - 3);
}

std::uint64_t WorkerCycles(const Target& target, ProductFormat format, std::uint64_t n,
                           bool zeroes) {
  if (format.input == NumberFormat::kFloat8) return WorkerCyclesQuarter(n, zeroes);
  if (format.input == NumberFormat::kFloat32) {
    return WorkerCyclesFloat(n, zeroes, ConvOutputGroup(target, format));
  }
  return IsCommonPath(target, format) ? WorkerCyclesCommon(n, zeroes)
                                      : WorkerCyclesHalfEightUnits(n, zeroes);
}

// All workers once: inner(z) of section 2.1. 14 is the cost of a sync with the fastest worker,
// which is not always the one with fewest positions.
std::uint64_t InnerCycles(const Target& target, const AmpVertex& vertex, bool zeroes) {
  const std::uint64_t workers = target.worker_threads;
  const auto [fastest, slowest] =
      std::minmax({WorkerCycles(target, vertex.format, vertex.rows / workers, zeroes),
                   WorkerCycles(target, vertex.format, CeilDivide(vertex.rows, workers), zeroes)});
  return std::max(workers * slowest, workers * fastest + 14);
}

std::uint64_t HalfAndFloatCycles(const Target& target, const AmpVertex& vertex) {
  const bool common = IsCommonPath(target, vertex.format);
  const Retention retention = common ? kCommonRetention : Retention{};
  const std::uint64_t c = common || vertex.format.has_float_partials() ? 1 : 0;
  const std::uint64_t load = CoefficientLoadCycles(target, vertex.format, vertex.load_128bit);
  const std::uint64_t passes =
      CeilDivide(vertex.out_group_channels, ConvOutputGroup(target, vertex.format));
  const std::uint64_t first =
      10 + 1 +
      vertex.out_groups * (19 - c + passes * (7 + load + InnerCycles(target, vertex, true)));
  const std::uint64_t later =
      15 - c + 1 +
      vertex.out_groups * (19 + passes * (6 + load + InnerCycles(target, vertex, false)));
  return 50 +
         target.worker_threads * (retention.all + retention.per_input_group *
                                                      (vertex.in_groups * vertex.conv_groups - 1)) +
         vertex.conv_groups * (12 + c + (vertex.in_groups - 1) * later + first);
}

// Section 2.2, whose 21, 46, 131 and 108 are these for 6 workers.
std::uint64_t QuarterCycles(const Target& target, const AmpVertex& vertex) {
  const std::uint64_t workers = target.worker_threads;
  const std::uint64_t call = 6 * workers;
  const std::uint64_t load = CoefficientLoadCycles(target, vertex.format, vertex.load_128bit);
  const std::uint64_t passes =
      CeilDivide(vertex.out_group_channels, ConvOutputGroup(target, vertex.format));
  const std::uint64_t first = 14 * workers + 11 + call + load + InnerCycles(target, vertex, true);
  const std::uint64_t later = 11 * workers + 6 + call + load + InnerCycles(target, vertex, false);
  return 46 +
         vertex.conv_groups * (2 * workers + 9 +
                               vertex.out_groups * passes *
                                   (6 * workers + 10 + first + (vertex.in_groups - 1) * later));
}

}  // namespace

std::uint64_t AmpVertexCycles(const Target& target, const AmpVertex& vertex) {
  if (vertex.rows == 0 || vertex.in_groups == 0 || vertex.out_groups == 0 ||
      vertex.conv_groups == 0 || ConvUnits(target, vertex.format) == 0) {
    return 0;
  }
  return vertex.format.input == NumberFormat::kFloat8 ? QuarterCycles(target, vertex)
                                                      : HalfAndFloatCycles(target, vertex);
}

}  // namespace poprt::ipu
