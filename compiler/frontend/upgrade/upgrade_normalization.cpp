#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "compiler/frontend/upgrade/upgrade_call.hpp"

namespace poprt::frontend {
namespace {

/// Before opset 13 these see their input as a matrix, all extents from `axis` on being its rows.
absl::Status UpgradeSoftmax(const UpgradeCall& call) {
  const Shape shape = call.type(0).shape;
  const std::int64_t given = call.node.attributes.get_int("axis", 1);
  const std::optional<std::int64_t> axis = NormalizeAxis(given, shape.size());
  if (!axis) {
    return absl::InvalidArgumentError("attribute 'axis' is " + std::to_string(given) +
                                      ", outside the " + std::to_string(shape.size()) +
                                      " dimensions of the input");
  }
  const auto first = shape.begin() + *axis;
  const auto is_row = [](std::int64_t extent) { return extent != 1; };
  if (std::count_if(first, shape.end(), is_row) <= 1) {
    const auto row = std::find_if(first, shape.end(), is_row);
    call.node.attributes.set(
        "axis", row == shape.end() ? *axis : static_cast<std::int64_t>(row - shape.begin()));
    return absl::OkStatus();
  }
  const Ints matrix{ElementCount(Shape(shape.begin(), first)),
                    ElementCount(Shape(first, shape.end()))};
  auto rows = call.sink.Add(call.node.name + "/flatten", "Reshape", {call.input(0)},
                            {{"shape", matrix}, {"allowzero", std::int64_t{1}}});
  if (!rows.ok()) return rows.status();
  auto result = call.sink.Add(call.node.name + "/" + call.node.op, call.node.op, {*rows},
                              {{"axis", std::int64_t{1}}});
  if (!result.ok()) return result.status();
  call.node.op = "Reshape";
  call.node.inputs = {*result};
  call.node.attributes = {{"shape", Ints(shape)}, {"allowzero", std::int64_t{1}}};
  return absl::OkStatus();
}

/// Before opset 21 scale and bias had one element for each group instead of each channel.
absl::Status UpgradeGroupNormalization(const UpgradeCall& call) {
  SourceNode& node = call.node;
  node.attributes.erase("stash_type");
  if (call.type(0).shape.size() < 2) {
    return absl::InvalidArgumentError("input 0 is " + ToString(call.type(0)) +
                                      ", it must have at least 2 dimensions");
  }
  const std::int64_t channels = call.type(0).shape[1];
  const std::int64_t groups = node.attributes.get_int("num_groups", 0);
  if (groups < 1 || channels % groups != 0) {
    return absl::InvalidArgumentError("attribute 'num_groups' is " + std::to_string(groups) +
                                      ", it must divide the " + std::to_string(channels) +
                                      " channels");
  }
  for (std::size_t i : {1, 2}) {
    if (call.type(i) != TensorType{call.type(i).element, {groups}}) {
      return absl::InvalidArgumentError("input " + std::to_string(i) + " is " +
                                        ToString(call.type(i)) + ", it must have the shape [" +
                                        std::to_string(groups) + "]");
    }
    const std::string stem = node.name + (i == 1 ? "/scale" : "/bias");
    auto value =
        call.sink.Add(stem + "_column", "Reshape", {call.input(i)}, {{"shape", Ints{groups, 1}}});
    if (!value.ok()) return value.status();
    value = call.sink.Add(stem + "_expanded", "Expand", {*value},
                          {{"shape", Ints{groups, channels / groups}}});
    if (!value.ok()) return value.status();
    value = call.sink.Add(stem, "Reshape", {*value}, {{"shape", Ints{channels}}});
    if (!value.ok()) return value.status();
    node.inputs[i] = *value;
  }
  return absl::OkStatus();
}

constexpr UpgradeRow kRows[] = {
    {"GroupNormalization", 21, UpgradeGroupNormalization},
    {"Hardmax", 13, UpgradeSoftmax},
    {"LogSoftmax", 13, UpgradeSoftmax},
    {"Softmax", 13, UpgradeSoftmax},
};

}  // namespace

std::span<const UpgradeRow> NormalizationUpgrades() { return kRows; }

}  // namespace poprt::frontend
