#pragma once

#include <cstdint>

#include "runtime/kernels/kernel.hpp"

namespace poprt::kernels {

/// Which scale (and zero point) belongs to which element of a tensor: one for all, one per position
/// of an axis, or one per block of positions of an axis (QuantizeLinear, DequantizeLinear).
class ScaleGrid {
 public:
  /// From the types of the tensor and its scales, and the attributes "axis" and "block_size".
  /// Throws KernelError when they don't fit.
  static ScaleGrid Resolve(const KernelCall& call, const TensorType& tensor,
                           const TensorType& scales);

  /// One scale for all elements.
  bool is_uniform() const { return is_uniform_; }

  /// As Indices where the elements from `begin` on have one scale: its index, and the number of
  /// such elements in a row. 0 elements where neighbours have scales of their own.
  struct Run {
    std::int64_t index = 0;
    std::int64_t count = 0;
  };
  Run RunAt(std::int64_t begin) const;

  /// The index of the scale of each of the elements [begin, begin + count) in row-major order.
  void Indices(std::int64_t begin, std::int64_t count, std::int64_t* indices) const;

 private:
  bool is_uniform_ = true;
  std::int64_t extent_ = 1;        // of the tensor along the axis
  std::int64_t inner_ = 1;         // elements behind one position of the axis
  std::int64_t block_ = 1;         // positions that share a scale
  std::int64_t outer_stride_ = 0;  // scales between two positions of the axes before
  std::int64_t block_stride_ = 1;  // scales between two blocks
  std::int64_t inner_stride_ = 0;  // scales between two elements behind one position
};

}  // namespace poprt::kernels
