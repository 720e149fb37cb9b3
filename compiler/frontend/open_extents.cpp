#include "compiler/frontend/open_extents.hpp"

#include <algorithm>
#include <cstring>

#include "absl/status/status.h"

namespace poprt::frontend {

const OpenExtent* OpenExtents::Find(ir::ValueId value) const {
  const auto found = extents_.find(value);
  return found == extents_.end() ? nullptr : &found->second;
}

bool OpenExtents::AnyOf(const std::vector<ir::ValueId>& values) const {
  return std::any_of(values.begin(), values.end(),
                     [&](ir::ValueId id) { return Find(id) != nullptr; });
}

std::optional<OpenExtents::Count> OpenExtents::CountOf(const ir::Graph& graph,
                                                       ir::ValueId value) const {
  std::optional<Count> count;
  for (const auto& [id, extent] : extents_) {
    if (extent.count != value) continue;
    const std::int64_t bound = graph.type(id).shape[extent.axis];
    if (!count || bound < count->bound) count = {.bound = bound, .source = extent.source};
  }
  return count;
}

std::optional<OpenExtents::Axes> OpenExtents::AxesOf(const std::vector<ir::ValueId>& values) const {
  Axes all{.axes = std::vector<std::optional<std::size_t>>(values.size())};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const OpenExtent* extent = Find(values[i]);
    if (extent == nullptr) continue;
    // Nothing says that two counts are equal.
    if (all.from != nullptr && all.from->count != extent->count) return std::nullopt;
    all.from = extent;
    all.axes[i] = extent->axis;
  }
  return all;
}

absl::StatusOr<OpenExtents::Carried> OpenExtents::Carry(
    const ir::Graph& graph, const std::vector<ir::ValueId>& values, const ops::InferenceCall& call,
    const std::vector<TensorType>& outputs) const {
  const std::optional<Axes> open = AxesOf(values);
  if (!open) return Refusal(graph, values);
  const std::optional<ops::CarriedAxis> to = ops::CarryOpenAxis(call, outputs, open->axes);
  if (!to) return Refusal(graph, values);
  return Carried{.from = open->from, .to = *to};
}

std::optional<OpenExtents::Filled> OpenExtents::Fill(const std::vector<ir::ValueId>& values,
                                                     const ops::InferenceCall& call) const {
  const std::optional<Axes> open = AxesOf(values);
  if (!open) return std::nullopt;
  std::optional<ops::FilledAxis> how = ops::FillOpenAxis(call, open->axes);
  if (!how) return std::nullopt;
  return Filled{.from = open->from, .how = *std::move(how)};
}

absl::Status OpenExtents::Refusal(const ir::Graph& graph,
                                  const std::vector<ir::ValueId>& values) const {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const OpenExtent* extent = Find(values[i]);
    if (extent == nullptr) continue;
    text += (text.empty() ? "input " : ", input ") + std::to_string(i) + ", '" +
            graph.value(values[i]).name + "', has an extent along axis " +
            std::to_string(extent->axis) + " that depends on data, from " + extent->source;
  }
  return absl::InvalidArgumentError(
      text +
      ": this operator cannot compute with that at run time; freeze the inputs that the extent "
      "depends on, or end the model before this node");
}

Tensor Truncate(const Tensor& tensor, std::size_t axis, std::int64_t count) {
  Shape shape = tensor.shape();
  const std::int64_t bound = shape[axis];
  if (count >= bound) return tensor;
  shape[axis] = count;
  Tensor result({tensor.element(), shape});
  if (result.bytes() == 0) return result;
  const auto split = shape.begin() + static_cast<std::ptrdiff_t>(axis);
  const auto rows = static_cast<std::size_t>(ElementCount({shape.begin(), split}));
  const std::size_t to_bytes = result.bytes() / rows;
  const std::size_t from_bytes = tensor.bytes() / rows;
  for (std::size_t row = 0; row < rows; ++row) {
    std::memcpy(result.mutable_data() + row * to_bytes, tensor.data() + row * from_bytes, to_bytes);
  }
  return result;
}

}  // namespace poprt::frontend
