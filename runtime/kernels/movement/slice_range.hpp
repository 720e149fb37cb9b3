#pragma once

#include <vector>

#include "runtime/tensor/attributes.hpp"
#include "runtime/tensor/shape.hpp"

namespace poprt::kernels {

/// What Slice takes of one axis: positions start, start + step, ... , `count` of them, all inside
/// the axis.
struct SliceRange {
  std::int64_t start = 0;
  std::int64_t step = 1;
  std::int64_t count = 0;

  bool operator==(const SliceRange&) const = default;
};

/// Resolves the attributes starts, ends, axes, steps (Ints) of Slice against a shape, with ONNX's
/// clamping; one range per axis of `input`, the whole axis where it is not sliced. Throws
/// KernelError for lists of different lengths, an axis outside the rank or named twice, and step 0;
/// std::invalid_argument for an attribute of another type.
std::vector<SliceRange> ResolveSlice(const Attributes& attributes, const Shape& input);

/// The counts of the ranges: the shape of Slice's output.
Shape SliceOutputShape(const std::vector<SliceRange>& ranges);

}  // namespace poprt::kernels
