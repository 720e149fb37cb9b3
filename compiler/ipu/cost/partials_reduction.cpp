#include "compiler/ipu/cost/partials_reduction.hpp"

#include <algorithm>
#include <bit>

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

std::uint64_t ReductionStages(std::uint64_t depth, bool multi_stage) {
  constexpr std::uint64_t kTwoStages = 16;
  constexpr std::uint64_t kThreeStages = 125;
  if (!multi_stage || depth < kTwoStages) return 1;
  return depth < kThreeStages ? 2 : 3;
}

std::uint64_t StageDepth(std::uint64_t depth, std::uint64_t stages) {
  // The smallest number whose power is at least the depth.
  const auto reaches = [&](std::uint64_t root) {
    std::uint64_t left = depth;
    for (std::uint64_t stage = 0; stage < stages; ++stage) left = CeilDivide(left, root);
    return left <= 1;
  };
  if (depth <= 1 || stages == 0) return 1;
  std::uint64_t least = 2;
  std::uint64_t most = depth;
  while (least < most) {
    const std::uint64_t middle = least + (most - least) / 2;
    if (reaches(middle)) {
      most = middle;
    } else {
      least = middle + 1;
    }
  }
  return least;
}

}  // namespace poprt::ipu
