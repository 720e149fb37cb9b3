#include "runtime/kernels/attention/attention_operands.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/packed/packed_kernels.hpp"

namespace poprt::kernels {
namespace {

constexpr std::int64_t kLargestSize = std::int64_t{1} << 28;
constexpr std::size_t kAxes = 4;

using Extents = std::array<std::int64_t, kAxes>;

AttentionSizes RequireSizes(const KernelCall& call) {
  const Ints sizes = IntsAttribute(call, "sizes");
  const bool valid = sizes.size() == 6 && std::ranges::all_of(sizes, [](std::int64_t size) {
                       return size >= 1 && size <= kLargestSize;
                     });
  Require(valid, "attribute sizes must hold six sizes from 1 to 2^28");
  return {sizes[0], sizes[1], sizes[2], sizes[3], sizes[4], sizes[5]};
}

/// Strides of axes that have one element only say nothing.
std::int64_t StrideOf(std::int64_t stride, std::int64_t extent) { return extent == 1 ? 0 : stride; }

/// The attribute `name`, every element of which must lie within a tensor of `count` elements.
HeadView RequireView(const KernelCall& call, const std::string& name, std::int64_t count,
                     const Extents& extents) {
  const Ints view = IntsAttribute(call, name);
  Require(view.size() == kAxes + 1 && std::ranges::all_of(view, [](auto x) { return x >= 0; }),
          "attribute " + name + " must hold an offset and four strides, none negative");
  std::int64_t left = count - 1;
  const auto require_step = [&](std::int64_t steps, std::int64_t stride) {
    Require(steps == 0 || stride <= left / steps, "attribute " + name + " reaches beyond the " +
                                                      std::to_string(count) +
                                                      " elements of its operand");
    left -= steps * stride;
  };
  Require(count >= 1, "the operand of attribute " + name + " has no elements");
  require_step(1, view[0]);
  for (std::size_t i = 0; i < kAxes; ++i) require_step(extents[i] - 1, view[i + 1]);
  return {.offset = view[0],
          .batch = StrideOf(view[1], extents[0]),
          .head = StrideOf(view[2], extents[1]),
          .row = StrideOf(view[3], extents[2]),
          .channel = extents[3] == 1 ? 1 : view[4]};
}

/// How a mask broadcasts to the scores.
HeadView RequireMask(const TensorType& type, const Extents& scores, const std::string& what) {
  const Shape& shape = type.shape;
  const auto refuse = [&] {
    return what + " is " + ToString(type) + ", which does not broadcast to the scores " +
           ToString(Shape(scores.begin(), scores.end()));
  };
  Require(shape.size() <= kAxes && !shape.empty() && shape.back() == scores.back(), refuse());
  Extents strides{};
  std::int64_t stride = 1;
  for (std::size_t i = kAxes, n = shape.size(); n-- > 0;) {
    --i;
    Require(shape[n] == scores[i] || shape[n] == 1, refuse());
    strides[i] = shape[n] == 1 ? 0 : stride;
    stride *= shape[n];
  }
  return {.offset = 0, .batch = strides[0], .head = strides[1], .row = strides[2], .channel = 1};
}

/// Throws unless the view names every element of a tensor of `count` elements once.
void RequireWhole(const HeadView& view, const Extents& extents, std::int64_t count) {
  struct Axis {
    std::int64_t stride;
    std::int64_t extent;
  };
  std::array<Axis, kAxes> axes{Axis{view.batch, extents[0]}, Axis{view.head, extents[1]},
                               Axis{view.row, extents[2]}, Axis{view.channel, extents[3]}};
  std::ranges::sort(axes, {}, &Axis::stride);
  std::int64_t covered = 1;
  for (const Axis& axis : axes) {
    if (axis.extent == 1) continue;
    Require(axis.stride == covered, "attribute y_view does not fill the output");
    covered *= axis.extent;
  }
  Require(covered == count && view.offset == 0, "attribute y_view does not fill the output");
}

}  // namespace

AttentionOperands::AttentionOperands(const KernelCall& call) : sizes(RequireSizes(call)) {
  RequireArity(call, 3, 5);
  half = RequireHalfOrFloat(call.inputs[0].element, "input 0");
  const ElementType element = call.inputs[0].element;
  const TensorType& mask_type = InputOrAbsent(call, 3);
  const TensorType& keep_type = InputOrAbsent(call, 4);
  masked = mask_type.defined();
  has_keep = keep_type.defined();
  Require(call.inputs[1].element == element && call.inputs[2].element == element &&
              call.outputs[0].element == element && (!masked || mask_type.element == element),
          "queries, keys, values, mask and result must all have the type of input 0, " +
              std::string(ElementName(element)));
  Require(!has_keep || keep_type.element == ElementType::kBool,
          "input 4 is " + ToString(keep_type) + ", expected is bool");

  const auto& [b, h, s, t, d, e] = sizes;
  k_count = ElementCount(call.inputs[1].shape);
  v_count = ElementCount(call.inputs[2].shape);
  const std::int64_t y_count = ElementCount(call.outputs[0].shape);
  q = RequireView(call, "q_view", ElementCount(call.inputs[0].shape), {b, h, s, d});
  k = RequireView(call, "k_view", k_count, {b, h, t, d});
  v = RequireView(call, "v_view", v_count, {b, h, t, e});
  y = RequireView(call, "y_view", y_count, {b, h, s, e});
  RequireWhole(y, {b, h, s, e}, y_count);
  if (t == 1) k.row = 1;
  Require(q.channel == 1 && v.channel == 1 && y.channel == 1 && (k.channel == 1 || k.row == 1),
          "the channels of queries, values and results, and the channels or rows of keys, must "
          "follow each other in memory");
  if (masked) mask = RequireMask(mask_type, {b, h, s, t}, "the mask, input 3,");
  if (has_keep) keep = RequireMask(keep_type, {b, h, s, t}, "input 4");
  keep_if = FlagAttribute(call, "keep_if", true);
  fill = FloatAttribute(call, "fill", 0);
  scale = FloatAttribute(call, "scale", 1);
  visible = IntAttribute(call, "visible", t);
  Require(visible >= 1,
          "attribute visible is " + std::to_string(visible) + ", it must be at least 1");
  visible = std::min(visible, t);
}

}  // namespace poprt::kernels
