#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "compiler/emit/onnx_downgrade_call.hpp"

namespace poprt::emit {
namespace {

/// Parts that are not equal must be spelled out before opset 18; later their number must be.
absl::Status DowngradeSplit(const DowngradeCall& call) {
  OnnxNode& node = call.node;
  node.attributes.erase("num_outputs");
  if (!node.attributes.get_ints("split").empty()) return absl::OkStatus();
  const auto axis =
      NormalizeAxis(node.attributes.get_int("axis", 0), call.input().shape.size()).value_or(0);
  Ints parts;
  for (const OnnxValue& output : node.outputs) {
    parts.push_back(output.type.shape[static_cast<std::size_t>(axis)]);
  }
  const bool equal =
      std::all_of(parts.begin(), parts.end(), [&](std::int64_t part) { return part == parts[0]; });
  if (call.writer.opset() >= 18) {
    node.attributes.set("num_outputs", static_cast<std::int64_t>(parts.size()));
  } else if (!equal) {
    node.attributes.set("split", parts);
  }
  return absl::OkStatus();
}

absl::Status DowngradePad(const DowngradeCall& call) {
  Attributes& attributes = call.node.attributes;
  if (!attributes.has("axes")) return absl::OkStatus();
  const Ints axes = attributes.get_ints("axes");
  const Ints given = attributes.get_ints("pads");
  const std::size_t rank = call.input().shape.size();
  Ints pads(2 * rank, 0);
  for (std::size_t i = 0; i < axes.size() && 2 * axes.size() == given.size(); ++i) {
    const auto axis = static_cast<std::size_t>(NormalizeAxis(axes[i], rank).value_or(0));
    pads[axis] = given[i];
    pads[rank + axis] = given[axes.size() + i];
  }
  attributes.set("pads", pads);
  attributes.erase("axes");
  return absl::OkStatus();
}

absl::Status DowngradeReshape(const DowngradeCall& call) {
  if (call.node.attributes.get_int("allowzero", 0) == 0) return absl::OkStatus();
  const Shape& shape = call.output().shape;
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return absl::OkStatus();
  call.node.attributes.erase("allowzero");
  call.node.attributes.set("shape", Ints(shape));
  return absl::OkStatus();
}

constexpr DowngradeRow kRows[] = {
    {"Pad", 18, DowngradePad},
    {"Reshape", 14, DowngradeReshape},
    {"Split", kAlways, DowngradeSplit},
};

}  // namespace

std::span<const DowngradeRow> MovementDowngrades() { return kRows; }

}  // namespace poprt::emit
