#include "compiler/ipu/cost/outer_product_vertex.hpp"

#include "compiler/ipu/cost/ceil_divide.hpp"

namespace poprt::ipu {
namespace {

// One row element times a group of channels; the fast path is an unrolled loop.
std::uint64_t GroupCycles(const OuterProductVertex& vertex) {
  const std::uint64_t channels = vertex.group_channels;
  constexpr std::uint64_t kMostStride = 512;
  if (vertex.format == NumberFormat::kFloat32) {
    const bool fast = channels >= 6 && channels % 2 == 0 && channels / 2 + 1 < kMostStride;
    return fast ? 6 + (channels - 6) / 2 : 10 + channels * 2;
  }
  const bool fast = channels >= 12 && channels % 4 == 0 && channels / 4 + 1 < kMostStride;
  return fast ? 6 + (channels - 12) / 4 : 10 + channels * 5 / 2;
}

}  // namespace

std::uint64_t OuterProductVertexCycles(const Target& target, const OuterProductVertex& vertex) {
  if (vertex.rows == 0 || vertex.channel_groups == 0 || vertex.group_channels == 0) return 0;
  const std::uint64_t rows = CeilDivide(vertex.rows, target.worker_threads);
  const std::uint64_t group = vertex.format == NumberFormat::kFloat32 ? 11 : 10;
  return target.worker_threads *
         (25 + vertex.channel_groups * (group + rows * GroupCycles(vertex)));
}

}  // namespace poprt::ipu
