#pragma once

#include <cstdint>
#include <vector>

#include "runtime/kernels/strided_index.hpp"

namespace poprt::kernels {

/// A tensor of dimensions that are kept and dimensions that are reduced; the innermost run of
/// either kind is contiguous.
struct ReduceShape {
  StridedDims kept;     // without the contiguous run
  StridedDims reduced;  // without the contiguous run
  std::int64_t run = 1;
  bool run_is_kept = false;
  std::int64_t results = 1;
  std::int64_t count = 1;  // elements per result
};

inline ReduceShape AnalyseReduction(const Shape& shape, const std::vector<bool>& mask) {
  ReduceShape walk;
  const Shape strides = Strides(shape);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    (mask[d] ? walk.count : walk.results) *= shape[d];
  }
  if (walk.count == 0 || walk.results == 0) return walk;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    (mask[d] ? walk.reduced : walk.kept).Append(shape[d], strides[d]);
  }
  walk.run_is_kept = !walk.kept.strides.empty() && walk.kept.strides.back() == 1;
  StridedDims& inner = walk.run_is_kept ? walk.kept : walk.reduced;
  if (!inner.extents.empty()) {
    walk.run = inner.extents.back();
    inner.extents.pop_back();
    inner.strides.pop_back();
  }
  return walk;
}

}  // namespace poprt::kernels
