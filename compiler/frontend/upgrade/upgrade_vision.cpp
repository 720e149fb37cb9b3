#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "compiler/frontend/upgrade/known_input.hpp"
#include "compiler/frontend/upgrade/upgrade_call.hpp"
#include "compiler/frontend/upgrade/upgrade_steps.hpp"
#include "runtime/tensor/half.hpp"

namespace poprt::frontend {
namespace {

/// Normalised coordinate of every pixel along an axis, whose ends are -1 and 1: the centres of the
/// outermost pixels or their outer edges.
std::vector<double> PixelCentres(std::int64_t extent, bool align_corners) {
  std::vector<double> centres;
  const auto length = static_cast<double>(extent);
  for (std::int64_t i = 0; i < extent; ++i) {
    const auto at = static_cast<double>(i);
    if (!align_corners) {
      centres.push_back((2 * at + 1) / length - 1);
    } else {
      centres.push_back(extent == 1 ? 0.0 : 2 * at / (length - 1) - 1);
    }
  }
  return centres;
}

template <typename T>
void FillGrid(const Shape& extents, bool align_corners, Tensor& grid) {
  const auto elements = grid.as_mutable<T>();
  const auto width = static_cast<std::int64_t>(extents.size()) + 1;
  const std::int64_t points = ElementCount(extents);
  std::int64_t inner = points;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    const std::vector<double> centres = PixelCentres(extents[axis], align_corners);
    if (points > 0) inner /= extents[axis];
    for (std::int64_t i = 0; i < points; ++i) {
      const auto centre = centres[static_cast<std::size_t>(i / inner % extents[axis])];
      // A point names its innermost coordinate first.
      const std::int64_t column = width - 2 - static_cast<std::int64_t>(axis);
      elements[static_cast<std::size_t>(i * width + column)] = T(static_cast<float>(centre));
      if constexpr (std::is_same_v<T, double>) {
        elements[static_cast<std::size_t>(i * width + column)] = centre;
      }
    }
  }
  for (std::int64_t i = 0; i < points; ++i) {
    elements[static_cast<std::size_t>((i + 1) * width - 1)] = T(1.0F);
  }
}

/// The homogeneous coordinates of all pixels, [pixels, axes + 1].
std::optional<Tensor> PixelGrid(ElementType element, const Shape& extents, bool align_corners) {
  constexpr std::int64_t kMostPixels = std::int64_t{1} << 26;
  const auto pixels = CheckedElementCount(extents);
  if (!pixels || *pixels > kMostPixels) return std::nullopt;
  Tensor grid({element, {*pixels, static_cast<std::int64_t>(extents.size()) + 1}});
  switch (element) {
    case ElementType::kFloat32:
      FillGrid<float>(extents, align_corners, grid);
      return grid;
    case ElementType::kFloat64:
      FillGrid<double>(extents, align_corners, grid);
      return grid;
    case ElementType::kFloat16:
      FillGrid<Float16>(extents, align_corners, grid);
      return grid;
    case ElementType::kBFloat16:
      FillGrid<BFloat16>(extents, align_corners, grid);
      return grid;
    default:
      return std::nullopt;
  }
}

/// A matrix product of the pixels' coordinates and the matrices.
absl::Status UpgradeAffineGrid(const UpgradeCall& call) {
  if (!call.type(0).defined()) return call.MissingInput(0);
  const TensorType theta = call.type(0);
  const absl::StatusOr<Ints> size = KnownInts(call, 1, "size");
  if (!size.ok()) return size.status();
  const auto rank = static_cast<std::int64_t>(size->size()) - 2;
  const bool fits = (rank == 2 || rank == 3) && theta.shape == Shape{(*size)[0], rank, rank + 1} &&
                    IsFloat(theta.element);
  if (!fits) {
    return absl::InvalidArgumentError("input 0 is " + ToString(theta) + ", input 1 (size) is " +
                                      ToString(*size) +
                                      ", allowed are floats [N, 2, 3] for a size [N, C, H, W] and "
                                      "[N, 3, 4] for [N, C, D, H, W]");
  }
  const Shape extents(size->begin() + 2, size->end());
  std::optional<Tensor> pixels =
      PixelGrid(theta.element, extents, call.node.attributes.get_int("align_corners", 0) != 0);
  if (!pixels) {
    return absl::InvalidArgumentError("input 1 (size) is " + ToString(*size) +
                                      ", which is too large or negative");
  }
  UpgradeSteps steps(call);
  const ir::ValueId grid = call.sink.AddConstant(call.node.name + "/pixels", *std::move(pixels));
  const ir::ValueId columns = steps.Do("Transpose", {call.input(0)}, {{"perm", Ints{0, 2, 1}}});
  const ir::ValueId points = steps.Do("MatMul", {grid, columns});
  Ints shape{theta.shape[0]};
  shape.insert(shape.end(), extents.begin(), extents.end());
  shape.push_back(rank);
  return steps.Finish("Reshape", {points}, {{"shape", shape}, {"allowzero", std::int64_t{1}}});
}

/// What CenterCropPad does to each axis.
struct CropPad {
  Ints crop_axes, starts, ends;
  Ints pad_axes, before, after;
};

absl::StatusOr<CropPad> ReadCropPad(const UpgradeCall& call) {
  const Shape& shape = call.type(0).shape;
  const absl::StatusOr<Ints> target = KnownInts(call, 1, "shape");
  if (!target.ok()) return target.status();
  Ints axes = call.node.attributes.get_ints("axes");
  if (!call.node.attributes.has("axes")) {
    for (std::size_t i = 0; i < shape.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  }
  if (axes.size() != target->size()) {
    return absl::InvalidArgumentError("input 1 (shape) has " + std::to_string(target->size()) +
                                      " extents for " + std::to_string(axes.size()) + " axes");
  }
  CropPad result;
  std::vector<bool> seen(shape.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::optional<std::int64_t> axis = NormalizeAxis(axes[i], shape.size());
    if (!axis || seen[static_cast<std::size_t>(*axis)]) {
      return absl::InvalidArgumentError("attribute 'axes' is " + ToString(axes) +
                                        ", it must name axes of " + ToString(call.type(0)) +
                                        " once each");
    }
    seen[static_cast<std::size_t>(*axis)] = true;
    const std::int64_t extent = shape[static_cast<std::size_t>(*axis)];
    const std::int64_t wanted = (*target)[i];
    if (wanted < 0) {
      return absl::InvalidArgumentError("input 1 (shape) is " + ToString(*target) +
                                        ", extents must not be negative");
    }
    if (wanted < extent) {
      result.crop_axes.push_back(*axis);
      result.starts.push_back((extent - wanted) / 2);
      result.ends.push_back((extent - wanted) / 2 + wanted);
    } else if (wanted > extent) {
      result.pad_axes.push_back(*axis);
      result.before.push_back((wanted - extent) / 2);
      result.after.push_back(wanted - extent - (wanted - extent) / 2);
    }
  }
  return result;
}

absl::Status UpgradeCenterCropPad(const UpgradeCall& call) {
  if (!call.type(0).defined()) return call.MissingInput(0);
  const absl::StatusOr<CropPad> plan = ReadCropPad(call);
  if (!plan.ok()) return plan.status();
  UpgradeSteps steps(call);
  const Attributes crop{{"axes", plan->crop_axes}, {"starts", plan->starts}, {"ends", plan->ends}};
  if (plan->pad_axes.empty()) {
    if (plan->crop_axes.empty()) return steps.Finish("Identity", {call.input(0)});
    return steps.Finish("Slice", {call.input(0)}, crop);
  }
  Ints pads = plan->before;
  pads.insert(pads.end(), plan->after.begin(), plan->after.end());
  ir::ValueId kept = call.input(0);
  if (!plan->crop_axes.empty()) kept = steps.Do("Slice", {kept}, crop);
  return steps.Finish("Pad", {kept}, {{"axes", plan->pad_axes}, {"pads", pads}});
}

/// Opset 20 renamed the modes, when there came to be more than two dimensions.
absl::Status UpgradeGridSample(const UpgradeCall& call) {
  const std::string mode = call.node.attributes.get_string("mode", "bilinear");
  if (mode == "bilinear") call.node.attributes.set("mode", std::string("linear"));
  if (mode == "bicubic") call.node.attributes.set("mode", std::string("cubic"));
  return absl::OkStatus();
}

/// Before opset 16 the regions were not moved by half a pixel.
absl::Status UpgradeRoiAlign(const UpgradeCall& call) {
  call.node.attributes.set("coordinate_transformation_mode", std::string("output_half_pixel"));
  return absl::OkStatus();
}

constexpr UpgradeRow kRows[] = {
    {"AffineGrid", kAlways, UpgradeAffineGrid, true},
    {"CenterCropPad", kAlways, UpgradeCenterCropPad, true},
    {"GridSample", 20, UpgradeGridSample},
    {"RoiAlign", 16, UpgradeRoiAlign},
};

}  // namespace

std::span<const UpgradeRow> VisionUpgrades() { return kRows; }

}  // namespace poprt::frontend
