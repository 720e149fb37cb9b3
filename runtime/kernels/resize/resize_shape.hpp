#pragma once

#include "runtime/tensor/attributes.hpp"
#include "runtime/tensor/shape.hpp"

namespace poprt::kernels {

/// How much longer an axis becomes, as a quotient: positions of the input that are whole numbers
/// come out whole, which a rounded scale would not grant.
struct ResizeScale {
  double to = 1;
  double from = 1;

  double value() const { return to / from; }
  /// The position of the input for one of the output.
  double Original(double position) const { return position * from / to; }
};

/// Geometry of Resize: output extents and the scale of every axis of the input (1 for axes that are
/// not resized).
struct ResizeGeometry {
  Shape output;
  std::vector<ResizeScale> scales;
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
