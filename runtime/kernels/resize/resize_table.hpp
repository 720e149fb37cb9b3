#pragma once

#include <cstdint>
#include <vector>

#include "runtime/kernels/kernel.hpp"
#include "runtime/kernels/resize/resize_shape.hpp"

namespace poprt::kernels {

enum class ResizeMode { kNearest, kLinear, kCubic };

/// How one axis is resized: every output position is a weighted sum of `taps` input positions.
struct ResizeAxis {
  std::int64_t in = 1;
  std::int64_t out = 1;
  std::int64_t taps = 1;
  std::vector<std::int64_t> index;    // out * taps, all inside the input
  std::vector<double> weight;         // out * taps
  std::vector<std::uint8_t> outside;  // out; takes the extrapolation value
  bool identity = false;
};

/// The attributes that make the tables, checked.
struct ResizeOptions {
  ResizeMode mode = ResizeMode::kNearest;
  std::string transformation;
  std::string nearest_mode;
  double cubic_a = -0.75;
  bool exclude_outside = false;
  bool antialias = false;
};
ResizeOptions ReadResizeOptions(const KernelCall& call);

/// One table per axis; an axis without input elements must have no output elements.
std::vector<ResizeAxis> MakeResizeAxes(const ResizeOptions& options, const ResizeGeometry& geometry,
                                       const Shape& input);

}  // namespace poprt::kernels
