#include "compiler/ipu/plan/transform_cost.hpp"

#include <algorithm>

namespace poprt::ipu {

std::uint64_t TransformCopyCycles(const Target& target, std::uint64_t bytes,
                                  std::uint64_t element_bytes, std::uint64_t extent) {
  if (bytes == 0) return 0;
  const std::uint64_t width = std::min<std::uint64_t>(element_bytes, target.vector_bytes);
  const bool whole_vectors = extent * element_bytes % target.vector_bytes == 0;
  const std::uint64_t divisor = whole_vectors ? 4 : 3;
  return target.copy_call_cycles + (bytes * 5 + divisor * width - 1) / (divisor * width);
}

}  // namespace poprt::ipu
