#include "runtime/kernels/resize/resize_table.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/kernels/kernel_attributes.hpp"

namespace poprt::kernels {
namespace {

/// One axis as the formulas of ONNX's operator description name its numbers.
struct AxisGeometry {
  ResizeScale scale;
  double in;
  double length;  // resized, before rounding down
  double out;
  double roi_begin;
  double roi_end;
  /// The scale is given, as a float, and the nearest position is wanted: by a float that stands for
  /// 4/3 position 4 is 3, and not a little less, only where it is divided as a float.
  bool divides_floats;

  double Original(double x) const {
    if (!divides_floats) return scale.Original(x);
    return static_cast<double>(static_cast<float>(x) / static_cast<float>(scale.value()));
  }
};

double OriginalCoordinate(const std::string& mode, const AxisGeometry& g, double x) {
  if (mode == "asymmetric") return g.Original(x);
  if (mode == "align_corners") {
    return g.length == 1.0 ? 0.0 : x * (g.in - 1.0) / (g.length - 1.0);
  }
  if (mode == "pytorch_half_pixel") {
    return g.out == 1.0 ? 0.0 : g.Original(x + 0.5) - 0.5;
  }
  if (mode == "tf_crop_and_resize") {
    const double extent = (g.roi_end - g.roi_begin) * (g.in - 1.0);
    if (g.length == 1.0) return 0.5 * (g.roi_begin + g.roi_end) * (g.in - 1.0);
    return g.roi_begin * (g.in - 1.0) + x * extent / (g.length - 1.0);
  }
  if (mode == "tf_half_pixel_for_nn") return g.Original(x + 0.5);
  const double half_pixel = g.Original(x + 0.5) - 0.5;
  if (mode == "half_pixel_symmetric") {
    return 0.5 * (g.in - g.Original(g.out)) + half_pixel;
  }
  return half_pixel;
}

double Nearest(const std::string& mode, double x) {
  if (mode == "floor") return std::floor(x);
  if (mode == "ceil") return std::ceil(x);
  if (mode == "round_prefer_ceil") return std::floor(x + 0.5);
  return std::ceil(x - 0.5);
}

double CubicWeight(double distance, double a) {
  const double x = std::fabs(distance);
  if (x <= 1.0) return ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0;
  if (x < 2.0) return ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a;
  return 0.0;
}

/// Positions [first, first + count) relative to floor(x), and how far distances are shrunk.
struct Footprint {
  std::int64_t first;
  std::int64_t count;
  double shrink;
};

Footprint FootprintOf(const ResizeOptions& options, double scale) {
  const double reach = options.mode == ResizeMode::kCubic ? 2.0 : 1.0;
  const double shrink = options.antialias ? std::min(scale, 1.0) : 1.0;
  const double width = reach / shrink;
  Require(width < 0x1p20, "a scale of " + std::to_string(scale) + " is too small to antialias");
  const auto first = static_cast<std::int64_t>(std::floor(-width)) + 1;
  return {first, 2 - 2 * first, shrink};
}

void AddWeights(const ResizeOptions& options, const Footprint& footprint, double x,
                ResizeAxis& axis) {
  const double base = std::floor(x);
  const double ratio = x - base;
  std::vector<double> weights;
  double all = 0;
  double inside = 0;
  for (std::int64_t k = 0; k < footprint.count; ++k) {
    const auto step = static_cast<double>(footprint.first + k);
    const double distance = (step - ratio) * footprint.shrink;
    const double weight = options.mode == ResizeMode::kCubic
                              ? CubicWeight(distance, options.cubic_a)
                              : std::max(0.0, 1.0 - std::fabs(distance));
    const double at = base + step;
    const bool in_range = at >= 0 && at < static_cast<double>(axis.in);
    axis.index.push_back(
        static_cast<std::int64_t>(std::clamp(at, 0.0, static_cast<double>(axis.in - 1))));
    weights.push_back(weight);
    all += weight;
    if (in_range) inside += weight;
    if (options.exclude_outside && !in_range) weights.back() = 0;
  }
  const double total = options.exclude_outside ? inside : all;
  for (const double weight : weights) axis.weight.push_back(total != 0 ? weight / total : weight);
}

/// Every position is one tap of an axis that stays as it is.
void KeepPositions(ResizeAxis& axis) {
  axis.taps = 1;
  axis.index.resize(static_cast<std::size_t>(axis.out));
  std::iota(axis.index.begin(), axis.index.end(), 0);
  axis.weight.assign(static_cast<std::size_t>(axis.out), 1.0);
}

ResizeAxis MakeAxis(const ResizeOptions& options, const AxisGeometry& geometry, std::int64_t in,
                    std::int64_t out) {
  ResizeAxis axis{.in = in, .out = out, .index = {}, .weight = {}, .outside = {}};
  const Footprint footprint = options.mode == ResizeMode::kNearest
                                  ? Footprint{0, 1, 1.0}
                                  : FootprintOf(options, geometry.scale.value());
  axis.taps = footprint.count;
  axis.identity = in == out;
  for (std::int64_t o = 0; o < out; ++o) {
    double x = OriginalCoordinate(options.transformation, geometry, static_cast<double>(o));
    const bool outside =
        options.transformation == "tf_crop_and_resize" && !(x >= 0 && x <= geometry.in - 1.0);
    // No coordinate means anything beyond this distance, but it must fit an integer.
    x = std::clamp(x, -0x1p50, 0x1p50);
    axis.outside.push_back(outside ? 1 : 0);
    axis.identity =
        axis.identity && !outside && x == static_cast<double>(o) && footprint.shrink == 1.0;
    if (options.mode == ResizeMode::kNearest) {
      axis.index.push_back(static_cast<std::int64_t>(
          std::clamp(Nearest(options.nearest_mode, x), 0.0, static_cast<double>(in - 1))));
      axis.weight.push_back(1.0);
    } else {
      AddWeights(options, footprint, x, axis);
    }
  }
  if (axis.identity && axis.taps > 1) KeepPositions(axis);
  return axis;
}

std::string OneOf(const KernelCall& call, std::string_view name,
                  std::initializer_list<std::string_view> allowed) {
  std::string value = StringAttribute(call, name, *allowed.begin());
  std::string list;
  for (const std::string_view item : allowed) {
    if (value == item) return value;
    list += (list.empty() ? "" : ", ") + std::string(item);
  }
  throw KernelError("attribute '" + std::string(name) + "' is \"" + value + "\", allowed are " +
                    list);
}

}  // namespace

ResizeOptions ReadResizeOptions(const KernelCall& call) {
  ResizeOptions options;
  const std::string mode = OneOf(call, "mode", {"nearest", "linear", "cubic"});
  options.mode = mode == "nearest"  ? ResizeMode::kNearest
                 : mode == "linear" ? ResizeMode::kLinear
                                    : ResizeMode::kCubic;
  options.transformation =
      OneOf(call, "coordinate_transformation_mode",
            {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
             "asymmetric", "tf_crop_and_resize", "tf_half_pixel_for_nn"});
  options.nearest_mode =
      OneOf(call, "nearest_mode", {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
  options.cubic_a = static_cast<double>(FloatAttribute(call, "cubic_coeff_a", -0.75F));
  Require(std::isfinite(options.cubic_a), "attribute 'cubic_coeff_a' is not finite");
  options.exclude_outside = FlagAttribute(call, "exclude_outside", false);
  options.antialias = FlagAttribute(call, "antialias", false);
  return options;
}

std::vector<ResizeAxis> MakeResizeAxes(const ResizeOptions& options, const ResizeGeometry& geometry,
                                       const Shape& input) {
  std::vector<ResizeAxis> axes;
  for (std::size_t i = 0; i < input.size(); ++i) {
    const AxisGeometry g{
        .scale = geometry.scales[i],
        .in = static_cast<double>(input[i]),
        .length = geometry.lengths[i],
        .out = static_cast<double>(geometry.output[i]),
        .roi_begin = geometry.roi_begin[i],
        .roi_end = geometry.roi_end[i],
        .divides_floats = options.mode == ResizeMode::kNearest && geometry.scales[i].from == 1};
    axes.push_back(MakeAxis(options, g, input[i], geometry.output[i]));
  }
  return axes;
}

}  // namespace poprt::kernels
