#pragma once

#include "runtime/tensor/attributes.hpp"
#include "runtime/tensor/shape.hpp"

namespace poprt::kernels {

/// Geometry of Resize: output extents and the scale of every axis of the input (1 for axes that are
/// not resized).
struct ResizeGeometry {
  Shape output;
  std::vector<double> scales;
  /// The resized extents before they are rounded down: scale times input extent.
  std::vector<double> lengths;
  /// Region of interest per axis, start and end in normalised coordinates; used by
  /// tf_crop_and_resize.
  std::vector<double> roi_begin;
  std::vector<double> roi_end;
};

/// Reads scales or sizes (exactly one of them non-empty), axes, keep_aspect_ratio_policy and roi.
/// Throws KernelError on nonsense (scale <= 0 or not finite, negative size, extent overflow),
/// std::invalid_argument for an attribute of another type.
ResizeGeometry ResolveResize(const Attributes& attributes, const Shape& input);

}  // namespace poprt::kernels
