#include "compiler/ipu/cost/partials_reduction.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "compiler/ipu/cost/ceil_divide.hpp"

namespace poprt::ipu {
namespace {

// Storing a vector of results, by the formats of partials and outputs.
std::uint64_t StoreCycles(const PartialsReduction& reduction) {
  if (reduction.float_partials) return reduction.float_outputs ? 7 : 6;
  return reduction.float_outputs ? 9 : 8;
}

// "Cast inside conv" of section 2.4.
std::uint64_t CastCycles(const Target& target, const PartialsReduction& reduction) {
  const auto vector = [&](bool is_float) {
    return VectorElements(target, is_float ? NumberFormat::kFloat32 : NumberFormat::kFloat16);
  };
  const std::uint64_t elements = CeilDivide(reduction.outputs, target.worker_threads);
  const std::uint64_t loops = std::max(CeilDivide(elements, vector(reduction.float_partials)),
                                       CeilDivide(elements, vector(reduction.float_outputs)));
  return target.worker_threads * (loops + 26);
}

/// Partials of an output that are left after each stage but the last.
struct PartialsLeft {
  std::array<std::uint64_t, 2> left = {};
  std::size_t count = 0;
  double pieces = 0;  ///< that a tile receives
};

std::uint64_t NumberOfStages(std::uint64_t depth, bool multi_stage) {
  constexpr std::uint64_t kTwoStages = 16;
  constexpr std::uint64_t kThreeStages = 125;
  if (!multi_stage || depth < kTwoStages) return 1;
  return depth < kThreeStages ? 2 : 3;
}

/// Of the numbers next to the root, the one after which fewer pieces are received in all.
PartialsLeft FewestPieces(std::uint64_t depth, std::uint64_t stages) {
  if (stages == 1) return {.pieces = static_cast<double>(depth)};
  const double share = static_cast<double>(stages - 1) / static_cast<double>(stages);
  const auto root = static_cast<std::uint64_t>(std::pow(static_cast<double>(depth), share));
  PartialsLeft best;
  for (const std::uint64_t left : {root + 1, root}) {
    const PartialsLeft later = FewestPieces(left, stages - 1);
    const double pieces = later.pieces + static_cast<double>(depth) / static_cast<double>(left);
    if (best.count > 0 && pieces >= best.pieces) continue;
    best = {.left = {left, later.left[0]}, .count = later.count + 1, .pieces = pieces};
  }
  return best;
}

}  // namespace

std::uint64_t PartialsReductionVertexCycles(const Target& target,
                                            const PartialsReduction& reduction) {
  if (reduction.outputs == 0 || reduction.depth == 0) return 0;
  if (reduction.depth == 1) {
    return reduction.float_partials == reduction.float_outputs ? 0 : CastCycles(target, reduction);
  }
  const std::uint64_t workers = target.worker_threads;
  const std::uint64_t accumulators =
      reduction.float_partials ? target.accumulators_fp32 : target.accumulators_fp16;
  const std::uint64_t element_bytes = reduction.float_partials ? 4 : 2;
  // Loads of a vector of partials: two of 64 bits.
  const std::uint64_t loads = CeilDivide(accumulators * element_bytes, target.vector_bytes);
  if (reduction.single_input) {
    const std::uint64_t cycles = reduction.fast_reduce ? CeilDivide(loads, 2) : loads;
    const std::uint64_t store = StoreCycles(reduction) + 1;
    return 33 +
           workers * (20 + (cycles * (reduction.depth - 1) + store) *
                               CeilDivide(CeilDivide(reduction.outputs, accumulators), workers));
  }
  // What is left of a vector is added in pieces of 4, 2 and 1.
  const std::uint64_t loops =
      reduction.outputs / accumulators +
      static_cast<std::uint64_t>(std::popcount(reduction.outputs % accumulators));
  return workers * (32 + ((loads + 1) * reduction.depth + StoreCycles(reduction)) *
                             CeilDivide(loops, workers));
}

ReductionStages PlanReduction(std::uint64_t depth, bool multi_stage) {
  ReductionStages stages;
  std::uint64_t remaining = depth;
  const PartialsLeft plan = FewestPieces(depth, NumberOfStages(depth, multi_stage));
  for (std::size_t i = 0; i < plan.count; ++i) {
    const std::uint64_t step = CeilDivide(remaining, plan.left[i]);
    stages.depths[stages.count++] = step;
    remaining = CeilDivide(remaining, step);
  }
  if (remaining > 1) stages.depths[stages.count++] = remaining;
  return stages;
}

}  // namespace poprt::ipu
