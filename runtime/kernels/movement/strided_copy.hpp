#pragma once

#include <cstddef>
#include <vector>

#include "runtime/kernels/thread_pool.hpp"
#include "runtime/tensor/attributes.hpp"
#include "runtime/tensor/shape.hpp"

namespace poprt::kernels {

/// Elements of a tensor seen in another order: element [i, j, ...] of the view stands at
/// offset + i * strides[0] + j * strides[1] + ... of the tensor, in elements. Strides may be zero
/// (repetition) or negative.
struct StridedView {
  Shape extents;
  Ints strides;
  std::int64_t offset = 0;
};

/// The view of a row-major tensor with its axes in the order of `permutation`, which must be one.
StridedView Permute(const Shape& shape, const Ints& permutation);

/// Copies a view of one tensor into another, row-major tensor, for elements of any size up to 8
/// bytes. Planned once: adjacent axes are joined, runs are moved by memcpy, and a transposition of
/// the innermost axis works in blocks. Immutable; Run allocates nothing.
class StridedCopy {
 public:
  /// The view must stay inside its tensor.
  StridedCopy(const StridedView& view, std::size_t element_size);

  void Run(const std::byte* input, std::byte* output, ThreadPool* pool) const;

 private:
  struct Axis {
    std::int64_t extent;
    std::int64_t in_stride;   // bytes
    std::int64_t out_stride;  // bytes
  };
  enum class Kind { kRows, kTranspose, kJoinFew, kPartFew, kStrided };

  void PlanRepeats();
  void PlanTranspose();
  void RunItems(const std::byte* input, std::byte* output, std::int64_t begin,
                std::int64_t end) const;
  template <typename Item>
  void ForItems(const std::byte* input, std::byte* output, std::int64_t begin, std::int64_t end,
                const Item& item) const;
  template <std::size_t kSize, std::int64_t kFew>
  void RunFew(const std::byte* input, std::byte* output, std::int64_t begin,
              std::int64_t end) const;
  template <std::size_t kSize>
  void RunFixed(const std::byte* input, std::byte* output, std::int64_t begin,
                std::int64_t end) const;

  Kind kind_ = Kind::kStrided;
  std::size_t size_;        // bytes of what moves as one piece
  std::int64_t offset_;     // bytes
  std::int64_t items_ = 1;  // product of the outer extents
  std::int64_t item_bytes_ = 0;
  std::int64_t repeats_ = 1;  // of a row, one behind the other, in an item
  std::vector<Axis> outer_;   // the last one counts blocks of `across_` when transposing
  Axis inner_{1, 0, 0};
  Axis across_{1, 0, 0};  // the axis that is contiguous in the input
  std::int64_t few_ = 0;  // elements side by side in one tensor and apart in the other
};

}  // namespace poprt::kernels
