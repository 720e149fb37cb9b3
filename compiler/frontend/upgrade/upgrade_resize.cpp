#include <algorithm>
#include <cstdint>

#include "compiler/frontend/upgrade/known_input.hpp"
#include "compiler/frontend/upgrade/upgrade_call.hpp"

namespace poprt::frontend {
namespace {

using ir::kAbsent;

Tensor FloatVector(const Floats& values) {
  return Tensor::Of<float>(ElementType::kFloat32, {static_cast<std::int64_t>(values.size())},
                           values);
}

/// Upsample and the first Resize place pixels as TensorFlow once did; the nearest pixel is the one
/// before, but the one after along an axis that shrinks.
absl::Status SetAsymmetric(const UpgradeCall& call) {
  SourceNode& node = call.node;
  const absl::StatusOr<Floats> scales = KnownFloats(call, 2, "scales");
  if (!scales.ok()) return scales.status();
  const bool nearest = node.attributes.get_string("mode", "nearest") == "nearest";
  const auto below = [](float scale) { return scale < 1.0F; };
  const auto above = [](float scale) { return scale > 1.0F; };
  const bool shrinks = std::any_of(scales->begin(), scales->end(), below);
  const bool grows = std::any_of(scales->begin(), scales->end(), above);
  node.op = "Resize";
  node.attributes.set("coordinate_transformation_mode", std::string("asymmetric"));
  node.attributes.set("nearest_mode", std::string(shrinks ? "ceil" : "floor"));
  if (!nearest || !shrinks || !grows) return absl::OkStatus();
  // Nothing else shrinks and grows at once: two nodes.
  Floats down = *scales;
  Floats up = *scales;
  std::replace_if(down.begin(), down.end(), above, 1.0F);
  std::replace_if(up.begin(), up.end(), below, 1.0F);
  const auto reduced = call.sink.Add(
      node.name + "/reduced", "Resize",
      {call.input(0), kAbsent, call.sink.AddConstant(node.name + "/down", FloatVector(down))},
      node.attributes);
  if (!reduced.ok()) return reduced.status();
  node.inputs = {*reduced, kAbsent, call.sink.AddConstant(node.name + "/up", FloatVector(up))};
  node.attributes.set("nearest_mode", std::string("floor"));
  return absl::OkStatus();
}

absl::Status UpgradeUpsample(const UpgradeCall& call) {
  SourceNode& node = call.node;
  if (node.inputs.empty()) return call.MissingInput(0);
  if (node.attributes.has("scales")) {
    const Floats scales = node.attributes.get_floats("scales");
    node.attributes.erase("scales");
    node.inputs = {call.input(0), kAbsent,
                   call.sink.AddConstant(node.name + "/scales", FloatVector(scales))};
  } else {
    node.inputs = {call.input(0), kAbsent, call.input(1)};
  }
  const std::string mode = node.attributes.get_string("mode", "nearest");
  if (mode == "bilinear" || mode == "trilinear") {
    node.attributes.set("mode", std::string("linear"));
  }
  return SetAsymmetric(call);
}

/// Opset 11 and 12 had a mode without the last half pixel. Where that only moves the rounding, the
/// newest form can say it.
void ReplaceHalfPixelForNearest(Attributes& attributes) {
  if (attributes.get_string("coordinate_transformation_mode", "") != "tf_half_pixel_for_nn") return;
  if (attributes.get_string("mode", "nearest") != "nearest") return;
  const std::string rounding = attributes.get_string("nearest_mode", "round_prefer_floor");
  if (rounding != "floor" && rounding != "round_prefer_floor") return;
  attributes.set("coordinate_transformation_mode", std::string("half_pixel"));
  attributes.set("nearest_mode", std::string(rounding == "floor" ? "round_prefer_ceil" : "ceil"));
}

absl::Status UpgradeResize(const UpgradeCall& call) {
  SourceNode& node = call.node;
  if (call.opset < 11) {
    node.inputs = {call.input(0), kAbsent, call.input(1)};
    return SetAsymmetric(call);
  }
  ReplaceHalfPixelForNearest(node.attributes);
  // Exporters write empty tensors for what is not given, and a region of interest for modes that
  // have none.
  const std::string mode =
      node.attributes.get_string("coordinate_transformation_mode", "half_pixel");
  if (mode != "tf_crop_and_resize" && node.inputs.size() > 1) node.inputs[1] = kAbsent;
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    if (call.type(i).defined() && ElementCount(call.type(i).shape) == 0) node.inputs[i] = kAbsent;
  }
  return absl::OkStatus();
}

constexpr UpgradeRow kRows[] = {
    {"Resize", kAlways, UpgradeResize},
    {"Upsample", kAlways, UpgradeUpsample, true},
};

}  // namespace

std::span<const UpgradeRow> ResizeUpgrades() { return kRows; }

}  // namespace poprt::frontend
