#include "runtime/kernels/resize/resize_shape.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "runtime/kernels/kernel.hpp"

namespace poprt::kernels {
namespace {

constexpr double kMaxExtent = 0x1p40;

std::vector<std::size_t> ReadAxes(const Attributes& attributes, std::size_t rank) {
  std::vector<std::size_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  const Ints named = attributes.get_ints("axes");
  if (named.empty()) return axes;
  axes.clear();
  for (const std::int64_t axis : named) {
    const auto found = NormalizeAxis(axis, rank);
    Require(found.has_value(), "attribute 'axes' holds " + std::to_string(axis) +
                                   ", the input has rank " + std::to_string(rank));
    const auto at = static_cast<std::size_t>(*found);
    Require(std::find(axes.begin(), axes.end(), at) == axes.end(),
            "attribute 'axes' names axis " + std::to_string(at) + " twice");
    axes.push_back(at);
  }
  return axes;
}

void RequireLength(std::string_view name, std::size_t found, std::size_t wanted) {
  if (found == wanted) return;
  throw KernelError("attribute '" + std::string(name) + "' has " + std::to_string(found) +
                    " numbers, expected " + std::to_string(wanted));
}

void UseScales(const Floats& scales, const std::vector<std::size_t>& axes, const Shape& input,
               ResizeGeometry& geometry) {
  RequireLength("scales", scales.size(), axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t axis = axes[i];
    if (!(scales[i] > 0) || !std::isfinite(scales[i])) {
      throw KernelError("attribute 'scales' holds " + std::to_string(scales[i]) +
                        ", allowed are finite numbers > 0");
    }
    geometry.scales[axis] = {static_cast<double>(scales[i]), 1.0};
    geometry.lengths[axis] = static_cast<double>(scales[i]) * static_cast<double>(input[axis]);
    // In float, as ONNX's own shape inference has it: 10 times 2.1 is 21.
    const float extent = std::floor(static_cast<float>(input[axis]) * scales[i]);
    Require(extent <= static_cast<float>(kMaxExtent),
            "the resized extent of axis " + std::to_string(axis) + " is too large");
    geometry.output[axis] = static_cast<std::int64_t>(extent);
  }
}

void UseSizes(const Ints& sizes, const std::vector<std::size_t>& axes, const Shape& input,
              const std::string& policy, ResizeGeometry& geometry) {
  RequireLength("sizes", sizes.size(), axes.size());
  ResizeScale common;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto extent = static_cast<double>(input[axes[i]]);
    if (sizes[i] < 0 || static_cast<double>(sizes[i]) > kMaxExtent) {
      throw KernelError("attribute 'sizes' holds " + std::to_string(sizes[i]) +
                        ", allowed are 0 to 2^40");
    }
    Require(extent > 0 || sizes[i] == 0,
            "axis " + std::to_string(axes[i]) + " has no elements to resize");
    const ResizeScale scale =
        extent > 0 ? ResizeScale{static_cast<double>(sizes[i]), extent} : ResizeScale{};
    geometry.output[axes[i]] = sizes[i];
    geometry.scales[axes[i]] = scale;
    geometry.lengths[axes[i]] = static_cast<double>(sizes[i]);
    const bool better =
        policy == "not_larger" ? scale.value() < common.value() : scale.value() > common.value();
    if (i == 0 || better) common = scale;
  }
  if (policy == "stretch") return;
  for (const std::size_t axis : axes) {
    const double length = common.value() * static_cast<double>(input[axis]);
    Require(length <= kMaxExtent,
            "the resized extent of axis " + std::to_string(axis) + " is too large");
    geometry.scales[axis] = common;
    geometry.lengths[axis] = std::floor(length + 0.5);
    geometry.output[axis] = static_cast<std::int64_t>(geometry.lengths[axis]);
  }
}

}  // namespace

ResizeGeometry ResolveResize(const Attributes& attributes, const Shape& input) {
  const std::size_t rank = input.size();
  ResizeGeometry geometry{input, std::vector<ResizeScale>(rank),
                          std::vector<double>(input.begin(), input.end()),
                          std::vector<double>(rank, 0.0), std::vector<double>(rank, 1.0)};
  for (const std::int64_t extent : input) {
    Require(extent >= 0 && static_cast<double>(extent) <= kMaxExtent,
            "the input's extent " + std::to_string(extent) + " is too large");
  }
  const std::vector<std::size_t> axes = ReadAxes(attributes, rank);
  const Floats scales = attributes.get_floats("scales");
  const Ints sizes = attributes.get_ints("sizes");
  const std::string policy = attributes.get_string("keep_aspect_ratio_policy", "stretch");
  if (policy != "stretch" && policy != "not_larger" && policy != "not_smaller") {
    throw KernelError("attribute 'keep_aspect_ratio_policy' is \"" + policy +
                      "\", allowed are stretch, not_larger, not_smaller");
  }
  Require(scales.empty() != sizes.empty() || rank == 0,
          "exactly one of the attributes 'scales' and 'sizes' must be given");
  if (!scales.empty()) UseScales(scales, axes, input, geometry);
  if (!sizes.empty()) UseSizes(sizes, axes, input, policy, geometry);
  const Floats roi = attributes.get_floats("roi");
  if (!roi.empty()) RequireLength("roi", roi.size(), 2 * axes.size());
  for (std::size_t i = 0; i < axes.size() && !roi.empty(); ++i) {
    const auto sane = [](float value) { return std::fabs(value) <= 0x1p20F; };
    Require(sane(roi[i]) && sane(roi[axes.size() + i]),
            "attribute 'roi' holds a number that is not in -2^20 to 2^20");
    geometry.roi_begin[axes[i]] = static_cast<double>(roi[i]);
    geometry.roi_end[axes[i]] = static_cast<double>(roi[axes.size() + i]);
  }
  return geometry;
}

}  // namespace poprt::kernels
