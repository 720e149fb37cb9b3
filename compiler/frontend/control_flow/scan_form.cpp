#include "compiler/frontend/control_flow/scan_form.hpp"

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace poprt::frontend {
namespace {

absl::StatusOr<Ints> AxesAttribute(const Attributes& attributes, const std::string& name,
                                   std::size_t count) {
  Ints axes = attributes.has(name) ? attributes.get_ints(name) : Ints(count, 0);
  if (axes.size() == count) return axes;
  return absl::InvalidArgumentError(
      absl::StrCat("attribute '", name, "' has ", axes.size(), " numbers, it must have ", count));
}

absl::StatusOr<std::vector<bool>> DirectionsAttribute(const Attributes& attributes,
                                                      const std::string& name, std::size_t count) {
  const auto directions = AxesAttribute(attributes, name, count);
  if (!directions.ok()) return directions.status();
  std::vector<bool> reversed;
  for (const std::int64_t direction : *directions) {
    if (direction != 0 && direction != 1) {
      return absl::InvalidArgumentError(absl::StrCat("attribute '", name, "' has the direction ",
                                                     direction, ", allowed are 0 and 1"));
    }
    reversed.push_back(direction == 1);
  }
  return reversed;
}

}  // namespace

absl::StatusOr<ScanForm> ReadScanForm(const NodeImport& import, bool has_batch) {
  Attributes attributes;
  for (const onnx::AttributeProto& proto : import.node.attribute()) {
    if (proto.has_g()) continue;
    const bool is_list = proto.type() == onnx::AttributeProto::INTS || proto.ints_size() > 0;
    attributes.set(proto.name(),
                   is_list ? AttributeValue(Ints(proto.ints().begin(), proto.ints().end()))
                           : AttributeValue(proto.i()));
  }
  const std::int64_t scanned = attributes.get_int("num_scan_inputs", 0);
  const auto given = static_cast<std::int64_t>(import.inputs.size()) - (has_batch ? 1 : 0);
  if (scanned < 1 || scanned > given) {
    return absl::InvalidArgumentError(absl::StrCat("attribute 'num_scan_inputs' is ", scanned,
                                                   ", allowed are 1 to the ", given, " inputs"));
  }
  ScanForm form{.inputs = static_cast<std::size_t>(scanned)};
  form.states = static_cast<std::size_t>(given - scanned);
  const auto outputs = static_cast<std::size_t>(import.node.output_size());
  if (outputs < form.states) {
    return absl::InvalidArgumentError(
        absl::StrCat("has ", outputs, " outputs for ", form.states, " states"));
  }
  form.results = outputs - form.states;
  if (has_batch) {
    form.input_axes.assign(form.inputs, 0);
    form.output_axes.assign(form.results, 0);
    form.output_reversed.assign(form.results, false);
    auto reversed = DirectionsAttribute(attributes, "directions", form.inputs);
    if (!reversed.ok()) return reversed.status();
    form.input_reversed = *std::move(reversed);
    return form;
  }
  auto input_axes = AxesAttribute(attributes, "scan_input_axes", form.inputs);
  if (!input_axes.ok()) return input_axes.status();
  form.input_axes = *std::move(input_axes);
  auto output_axes = AxesAttribute(attributes, "scan_output_axes", form.results);
  if (!output_axes.ok()) return output_axes.status();
  form.output_axes = *std::move(output_axes);
  auto inputs = DirectionsAttribute(attributes, "scan_input_directions", form.inputs);
  if (!inputs.ok()) return inputs.status();
  form.input_reversed = *std::move(inputs);
  auto results = DirectionsAttribute(attributes, "scan_output_directions", form.results);
  if (!results.ok()) return results.status();
  form.output_reversed = *std::move(results);
  return form;
}

}  // namespace poprt::frontend
