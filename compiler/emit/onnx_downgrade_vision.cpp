#include <algorithm>
#include <cstddef>
#include <string>

#include "compiler/emit/onnx_downgrade_call.hpp"

namespace poprt::emit {
namespace {

absl::Status DowngradeResize(const DowngradeCall& call) {
  Attributes& attributes = call.node.attributes;
  const int opset = call.writer.opset();
  if (attributes.get_string("coordinate_transformation_mode", "") == "tf_half_pixel_for_nn" &&
      opset != 11 && opset != 12) {
    return absl::UnimplementedError("only opsets 11 and 12 have tf_half_pixel_for_nn");
  }
  if (opset >= 18) return absl::OkStatus();
  if (attributes.get_string("keep_aspect_ratio_policy", "stretch") != "stretch") {
    return absl::UnimplementedError("keeping the aspect ratio needs opset 18");
  }
  attributes.erase("keep_aspect_ratio_policy");
  const std::size_t rank = call.input().shape.size();
  if (attributes.has("axes")) {
    const Ints axes = attributes.get_ints("axes");
    Floats scales(rank, 1.0F);
    const Floats given = attributes.get_floats("scales");
    for (std::size_t i = 0; i < axes.size() && i < given.size(); ++i) {
      const auto axis = NormalizeAxis(axes[i], rank);
      if (axis) scales[static_cast<std::size_t>(*axis)] = given[i];
    }
    if (attributes.has("roi")) {
      const Floats given_roi = attributes.get_floats("roi");
      Floats roi(2 * rank, 0.0F);
      std::fill(roi.begin() + static_cast<std::ptrdiff_t>(rank), roi.end(), 1.0F);
      for (std::size_t i = 0; i < axes.size() && given_roi.size() == 2 * axes.size(); ++i) {
        const auto axis = static_cast<std::size_t>(NormalizeAxis(axes[i], rank).value_or(0));
        roi[axis] = given_roi[i];
        roi[rank + axis] = given_roi[axes.size() + i];
      }
      attributes.set("roi", roi);
    }
    if (given.empty()) {
      attributes.set("sizes", Ints(call.output().shape));
    } else {
      attributes.set("scales", scales);
    }
    attributes.erase("axes");
  }
  // Opset 11 and 12 want all inputs, empty ones where there is nothing to say.
  if (call.writer.opset() < 13) {
    for (const char* name : {"roi", "scales"}) {
      if (!attributes.has(name)) attributes.set(name, Floats());
    }
  }
  return absl::OkStatus();
}

absl::Status DowngradeGridSample(const DowngradeCall& call) {
  if (call.input().shape.size() != 4) {
    return absl::UnimplementedError("GridSample of other than 4 dimensions needs opset 20");
  }
  const std::string mode = call.node.attributes.get_string("mode", "linear");
  if (mode == "linear" || mode == "cubic") {
    call.node.attributes.set("mode", std::string(mode == "linear" ? "bilinear" : "bicubic"));
  }
  return absl::OkStatus();
}

/// Before opset 16 regions were not moved by half a pixel.
absl::Status DowngradeRoiAlign(const DowngradeCall& call) {
  Attributes& attributes = call.node.attributes;
  const std::string mode = "coordinate_transformation_mode";
  if (attributes.get_string(mode, "half_pixel") == "half_pixel") {
    return absl::UnimplementedError("RoiAlign with half_pixel needs opset 16");
  }
  attributes.erase(mode);
  return absl::OkStatus();
}

/// The bound follows from input 2.
absl::Status DropBound(const DowngradeCall& call) {
  call.node.attributes.erase("most_boxes");
  return absl::OkStatus();
}

constexpr DowngradeRow kRows[] = {
    {"GridSample", 20, DowngradeGridSample},
    {"NonMaxSuppression", kAlways, DropBound},
    {"Resize", kAlways, DowngradeResize},
    {"RoiAlign", 16, DowngradeRoiAlign},
};

}  // namespace

std::span<const DowngradeRow> VisionDowngrades() { return kRows; }

}  // namespace poprt::emit
