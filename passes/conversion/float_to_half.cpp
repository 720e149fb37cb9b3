#include "passes/conversion/float_to_half.hpp"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "compiler/ops/op.hpp"
#include "passes/conversion/change_element_type.hpp"
#include "passes/unknown_names.hpp"
#include "runtime/tensor/half.hpp"

namespace poprt::passes {
namespace {

/// Smallest positive float16.
constexpr float kSmallestHalf = 0x1p-24F;

/// Raising helps an epsilon, which guards a division; a weight is better rounded to zero.
bool IsEpsilon(std::span<const float> values) {
  return !values.empty() && std::ranges::all_of(values, [](float value) {
    return value != 0 && std::abs(value) < kSmallestHalf;
  });
}

Tensor ToHalf(const std::string& model, const std::string& name, const Tensor& constant,
              const PassContext& context) {
  const std::span<const float> values = constant.as<float>();
  const bool is_epsilon = IsEpsilon(values);
  Tensor result({ElementType::kFloat16, constant.shape()});
  const std::span<Float16> target = result.as_mutable<Float16>();
  float clipped = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    float value = values[i];
    if (is_epsilon) value = std::copysign(kSmallestHalf, value);
    if (std::isfinite(value) && std::abs(value) > Float16::kMax) {
      clipped = std::abs(value) > std::abs(clipped) ? value : clipped;
      value = std::copysign(Float16::kMax, value);
    }
    target[i] = Float16(value);
  }
  const std::string subject = absl::StrCat("model '", model, "': constant '", name, "' holds ");
  if (clipped != 0) {
    context.warn(absl::StrCat(subject, clipped, ", clipped to ",
                              std::copysign(Float16::kMax, clipped), ", the limit of float16"));
  }
  if (is_epsilon) {
    context.warn(absl::StrCat(subject, values.front(), ", raised to ", kSmallestHalf,
                              ", the smallest float16"));
  }
  return result;
}

absl::Status CheckOperators(const PassContext& context) {
  std::vector<std::string> known;
  for (const ops::OpDef& op : ops::AllOps()) known.emplace_back(op.name);
  UnknownNames unknown(std::move(known));
  for (const std::string& op : context.fp16_skip_op_types) unknown.Check(op);
  return unknown.ToStatus("fp16_skip_op_types names operators that do not exist");
}

}  // namespace

absl::Status FloatToHalf(ir::Graph& graph, const PassContext& context) {
  absl::Status known = CheckOperators(context);
  if (!known.ok()) return known;
  const auto convert = [&](const std::string& name, const Tensor& constant) {
    return ToHalf(graph.name, name, constant, context);
  };
  ChangeElementType(graph, {.from = ElementType::kFloat32,
                            .to = ElementType::kFloat16,
                            .convert = convert,
                            .keep = context.fp16_skip_op_types,
                            .keep_interface = context.in_region});
  return absl::OkStatus();
}

}  // namespace poprt::passes
