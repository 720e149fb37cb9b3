#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/quantized/gather_scales.hpp"
#include "runtime/kernels/quantized/scale_grid.hpp"

namespace poprt::kernels {

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
    reader.grid_ = ScaleGrid::Resolve(call, call.inputs[0], call.inputs[1]);
    reader.scales_ = FindGatherScales<C, kScaleTypes>(call.inputs[1].element);
    if (points.defined()) reader.points_ = FindGatherScales<C, kPointTypes>(points.element);
    return reader;
  }

  /// Calls `block(first, count, scales, points)` for the blocks of the elements [begin, end) in
  /// their order; scales[k] and points[k] belong to element first + k.
  template <typename Block>
  void ForBlocks(const KernelArguments& args, std::int64_t begin, std::int64_t end,
                 const Block& block) const {
    alignas(64) C scales[kBlock];
    alignas(64) C points[kBlock];
    std::fill_n(points, kBlock, C{0});
    bool is_filled = false;
    for (std::int64_t first = begin; first < end; first += kBlock) {
      const std::int64_t count = std::min(kBlock, end - first);
      if (!is_filled) {
        Fill(args, first, count, scales, points);
        is_filled = grid_.is_uniform();
      }
      block(first, count, static_cast<const C*>(scales), static_cast<const C*>(points));
    }
  }

 private:
  void Fill(const KernelArguments& args, std::int64_t first, std::int64_t count, C* scales,
            C* points) const {
    for (std::int64_t done = 0; done < count;) {
      const ScaleGrid::Run run = grid_.RunAt(first + done);
      const std::int64_t n = std::min(run.count, count - done);
      if (n == 0) return Gather(args, first, count, scales, points);
      C value{};
      scales_(args.inputs[1], &run.index, 1, &value);
      std::fill_n(scales + done, n, value);
      if (points_ != nullptr) {
        points_(args.inputs[2], &run.index, 1, &value);
        std::fill_n(points + done, n, value);
      }
      done += n;
    }
  }

  void Gather(const KernelArguments& args, std::int64_t first, std::int64_t count, C* scales,
              C* points) const {
    std::int64_t indices[kBlock];
    grid_.Indices(first, count, indices);
    scales_(args.inputs[1], indices, count, scales);
    if (points_ != nullptr) points_(args.inputs[2], indices, count, points);
  }

  ScaleGrid grid_;
  GatherScales<C> scales_ = nullptr;
  GatherScales<C> points_ = nullptr;  // null without zero points
};

}  // namespace poprt::kernels
