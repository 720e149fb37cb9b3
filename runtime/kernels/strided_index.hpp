#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace poprt::kernels {

/// Some dimensions of a tensor, outermost first, each with its stride in elements.
struct StridedDims {
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> strides;

  std::int64_t count() const {
    std::int64_t product = 1;
    for (const std::int64_t extent : extents) product *= extent;
    return product;
  }

  /// Adds a dimension inside the others, merged with the last where that is the same walk.
  void Append(std::int64_t extent, std::int64_t stride) {
    if (extent == 1) return;
    if (!extents.empty() && strides.back() == stride * extent) {
      extents.back() *= extent;
      strides.back() = stride;
    } else {
      extents.push_back(extent);
      strides.push_back(stride);
    }
  }
};

/// Walks over StridedDims in row-major order without allocating. No extent may be zero; the
/// dimensions must come from StridedDims::Append, hence be at most 63.
class StridedWalk {
 public:
  StridedWalk(const StridedDims& dims, std::int64_t position) : dims_(dims) {
    for (std::size_t d = dims.extents.size(); d-- > 0;) {
      index_[d] = position % dims.extents[d];
      position /= dims.extents[d];
      offset_ += index_[d] * dims.strides[d];
    }
  }

  std::int64_t offset() const { return offset_; }

  void Next() {
    for (std::size_t d = dims_.extents.size(); d-- > 0;) {
      offset_ += dims_.strides[d];
      if (++index_[d] < dims_.extents[d]) return;
      offset_ -= index_[d] * dims_.strides[d];
      index_[d] = 0;
    }
  }

 private:
  const StridedDims& dims_;
  std::array<std::int64_t, 63> index_;  // as many of them as there are dimensions
  std::int64_t offset_ = 0;
};

}  // namespace poprt::kernels
