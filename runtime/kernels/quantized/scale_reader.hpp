#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/quantized/gather_scales.hpp"
#include "runtime/kernels/quantized/scale_grid.hpp"
#include "runtime/kernels/wide_loops.hpp"

namespace poprt::kernels {

/// The same number for every element of a block.
template <typename C>
struct Repeated {
  C value;
  C operator[](std::int64_t /*k*/) const { return value; }
};

/// Reads, as C, the scale (input 1) and the zero point (input 2, zero when absent) of every element
/// of input 0, in blocks.
template <typename C>
class ScaleReader {
 public:
  /// Elements of a block, at most.
  static constexpr std::int64_t kBlock = 1024;

  /// Throws KernelError when the shapes do not fit. The element types must be checked already.
  template <TypeSet kScaleTypes, TypeSet kPointTypes>
  static ScaleReader Bind(const KernelCall& call) {
    const TensorType& points = InputOrAbsent(call, 2);
    ScaleReader reader;
    reader.count_ = ElementCount(call.inputs[0].shape);
    reader.grid_ = ScaleGrid::Resolve(call, call.inputs[0], call.inputs[1]);
    reader.scales_ = FindGatherScales<C, kScaleTypes>(call.inputs[1].element);
    if (points.defined()) reader.points_ = FindGatherScales<C, kPointTypes>(points.element);
    return reader;
  }

  /// Calls `block(first, count, scales, points)` for blocks of all elements, on the pool, compiled
  /// for every instruction set; scales[k] and points[k] belong to element first + k. They are
  /// pointers, or both Repeated<C>.
  template <typename Block>
  void ForBlocks(const KernelArguments& args, const Block& block) const {
    ForWideRanges(args.pool, count_, kElementsPerTask,
                  [&](std::int64_t begin, std::int64_t end, int /*worker*/) {
                    for (std::int64_t first = begin; first < end;) {
                      first += ForScales(args, first, end, block);
                    }
                  });
  }

 private:
  /// The elements from `first` on that share a scale, or a block of them; returns how many.
  template <typename Block>
  std::int64_t ForScales(const KernelArguments& args, std::int64_t first, std::int64_t end,
                         const Block& block) const {
    const ScaleGrid::Run run = grid_.RunAt(first);
    const std::int64_t count = std::min(end - first, run.count > 0 ? run.count : kBlock);
    if (run.count > 0) {
      ForOneScale(args, run.index, first, count, block);
    } else {
      ForOwnScales(args, first, count, block);
    }
    return count;
  }

  template <typename Block>
  void ForOneScale(const KernelArguments& args, std::int64_t index, std::int64_t first,
                   std::int64_t count, const Block& block) const {
    Repeated<C> scale{};
    Repeated<C> point{};
    scales_(args.inputs[1], &index, 1, &scale.value);
    if (points_ != nullptr) points_(args.inputs[2], &index, 1, &point.value);
    for (std::int64_t done = 0; done < count; done += kBlock) {
      block(first + done, std::min(kBlock, count - done), scale, point);
    }
  }

  template <typename Block>
  void ForOwnScales(const KernelArguments& args, std::int64_t first, std::int64_t count,
                    const Block& block) const {
    alignas(64) C scales[kBlock];
    alignas(64) C points[kBlock];
    std::int64_t indices[kBlock];
    grid_.Indices(first, count, indices);
    scales_(args.inputs[1], indices, count, scales);
    if (points_ != nullptr) {
      points_(args.inputs[2], indices, count, points);
    } else {
      std::fill_n(points, count, C{0});
    }
    block(first, count, static_cast<const C*>(scales), static_cast<const C*>(points));
  }

  std::int64_t count_ = 0;  // of all elements
  ScaleGrid grid_;
  GatherScales<C> scales_ = nullptr;
  GatherScales<C> points_ = nullptr;  // null without zero points
};

}  // namespace poprt::kernels
