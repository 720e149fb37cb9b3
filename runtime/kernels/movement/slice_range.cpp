#include "runtime/kernels/movement/slice_range.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "runtime/kernels/kernel.hpp"

namespace poprt::kernels {
namespace {

/// Start or end counted from the front, clamped to [low, high]. `position` is any int64.
std::int64_t Clamp(std::int64_t position, std::int64_t extent, std::int64_t low,
                   std::int64_t high) {
  if (position < 0) position += extent;
  return std::clamp(position, low, high);
}

SliceRange Resolve(std::int64_t start, std::int64_t end, std::int64_t step, std::int64_t extent) {
  if (extent == 0) return {0, step, 0};
  if (step > 0) {
    const std::int64_t first = Clamp(start, extent, 0, extent);
    const std::int64_t last = Clamp(end, extent, 0, extent);
    return {first, step, last <= first ? 0 : (last - first - 1) / step + 1};
  }
  const std::int64_t first = Clamp(start, extent, 0, extent - 1);
  const std::int64_t last = Clamp(end, extent, -1, extent - 1);
  if (first <= last) return {first, step, 0};
  // -(step + 1) + 1 would overflow for the smallest int64, which takes one element at most.
  const std::int64_t stride = step == std::numeric_limits<std::int64_t>::min()
                                  ? std::numeric_limits<std::int64_t>::max()
                                  : -step;
  return {first, step, (first - last - 1) / stride + 1};
}

}  // namespace

std::vector<SliceRange> ResolveSlice(const Attributes& attributes, const Shape& input) {
  const Ints starts = attributes.get_ints("starts");
  const Ints ends = attributes.get_ints("ends");
  Ints axes = attributes.get_ints("axes");
  Ints steps = attributes.get_ints("steps");
  if (axes.empty() && !attributes.has("axes")) {
    axes.resize(starts.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (steps.empty()) steps.assign(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() ||
      steps.size() != starts.size()) {
    throw KernelError("attributes starts, ends, axes, steps have " + std::to_string(starts.size()) +
                      ", " + std::to_string(ends.size()) + ", " + std::to_string(axes.size()) +
                      ", " + std::to_string(steps.size()) +
                      " numbers, they must have equally many");
  }
  std::vector<SliceRange> ranges;
  for (const std::int64_t extent : input) ranges.push_back({0, 1, extent});
  std::vector<bool> seen(input.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = NormalizeAxis(axes[i], input.size());
    if (!axis) {
      throw KernelError("attribute 'axes' holds " + std::to_string(axes[i]) +
                        ", the input has rank " + std::to_string(input.size()));
    }
    const auto at = static_cast<std::size_t>(*axis);
    Require(!seen[at], "attribute 'axes' names axis " + std::to_string(at) + " twice");
    Require(steps[i] != 0, "attribute 'steps' holds 0");
    seen[at] = true;
    ranges[at] = Resolve(starts[i], ends[i], steps[i], input[at]);
  }
  return ranges;
}

Shape SliceOutputShape(const std::vector<SliceRange>& ranges) {
  Shape shape;
  for (const SliceRange& range : ranges) shape.push_back(range.count);
  return shape;
}

}  // namespace poprt::kernels
