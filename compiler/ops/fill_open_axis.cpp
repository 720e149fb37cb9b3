#include "compiler/ops/fill_open_axis.hpp"

#include <algorithm>
#include <exception>
#include <string_view>
#include <utility>

#include "compiler/ops/inference.hpp"
#include "compiler/ops/open_call.hpp"

namespace poprt::ops {
namespace {

using Axis = OpenCall::Axis;
using Filled = std::optional<FilledAxis>;

using Rule = Filled (*)(const OpenCall& call);

/// Of one operand, over axes that are known to be the open one, or it would be carried.
template <Fill kFill>
Filled Fold(const OpenCall& call) {
  if (!call.AreOpen(1)) return std::nullopt;
  return FilledAxis{.fills = {kFill}, .axis = std::nullopt};
}

/// The first of equal elements, which is none of those beyond.
template <Fill kFill>
Filled ArgFold(const OpenCall& call) {
  if (call.attributes().get_int("select_last_index", 0) != 0) return std::nullopt;
  return Fold<kFill>(call);
}

Filled TopK(const OpenCall& call) {
  const bool largest = call.attributes().get_int("largest", 1) != 0;
  return largest ? Fold<Fill::kLowest>(call) : Fold<Fill::kHighest>(call);
}

/// The results are open as the operand is.
template <Fill kFill>
Filled Along(const OpenCall& call) {
  if (!call.AreOpen(1)) return std::nullopt;
  return FilledAxis{.fills = {kFill}, .axis = call.axis(0)};
}

/// Sums of products along the open axes of both.
Filled Product(const OpenCall& call, std::size_t left, std::size_t right) {
  if (!call.AreOpen(2) || call.axis(0) != left || call.axis(1) != right) return std::nullopt;
  return FilledAxis{.fills = {Fill::kZero, Fill::kZero, Fill::kAny}, .axis = std::nullopt};
}

Filled MatMul(const OpenCall& call) {
  const std::size_t right = call.rank(1);
  return Product(call, call.rank(0) - 1, right >= 2 ? right - 2 : 0);
}

Filled Gemm(const OpenCall& call) {
  const bool transposes_a = call.attributes().get_int("transA", 0) != 0;
  const bool transposes_b = call.attributes().get_int("transB", 0) != 0;
  return Product(call, transposes_a ? 0 : 1, transposes_b ? 1 : 0);
}

/// The condition is a vector, and slices of the data along the same axis may be open with it.
Filled Compress(const OpenCall& call) {
  if (call.axis(1) != 0U) return std::nullopt;
  if (call.axis(0)) {
    const bool is_flattened = !call.attributes().has("axis");
    if (is_flattened && call.rank(0) != 1) return std::nullopt;
    const std::size_t axis =
        is_flattened ? 0 : AxisAttribute(call.attributes(), "axis", 0, call.rank(0));
    if (call.axis(0) != axis) return std::nullopt;
  }
  return FilledAxis{.fills = {Fill::kAny, Fill::kZero}, .axis = std::nullopt};
}

Filled NonMaxSuppression(const OpenCall& call) {
  if (!call.AreOpen(2) || call.axis(0) != 1U || call.axis(1) != 2U) return std::nullopt;
  return FilledAxis{.fills = {Fill::kAny, Fill::kLowest}, .axis = std::nullopt};
}

constexpr std::pair<std::string_view, Rule> kRules[] = {
    {"ArgMax", ArgFold<Fill::kLowest>},
    {"ArgMin", ArgFold<Fill::kHighest>},
    {"Compress", Compress},
    {"CumProd", Along<Fill::kOne>},
    {"CumSum", Along<Fill::kZero>},
    {"Gemm", Gemm},
    {"LogSoftmax", Along<Fill::kLowest>},
    {"MatMul", MatMul},
    {"NonMaxSuppression", NonMaxSuppression},
    {"NonZero", Fold<Fill::kZero>},
    {"ReduceL1", Fold<Fill::kZero>},
    {"ReduceL2", Fold<Fill::kZero>},
    {"ReduceLogSum", Fold<Fill::kZero>},
    {"ReduceLogSumExp", Fold<Fill::kLowest>},
    {"ReduceMax", Fold<Fill::kLowest>},
    {"ReduceMin", Fold<Fill::kHighest>},
    {"ReduceProd", Fold<Fill::kOne>},
    {"ReduceSum", Fold<Fill::kZero>},
    {"ReduceSumSquare", Fold<Fill::kZero>},
    {"Softmax", Along<Fill::kLowest>},
    {"TopK", TopK},
};

}  // namespace

std::optional<FilledAxis> FillOpenAxis(const InferenceCall& call, std::span<const Axis> open) {
  const auto* rule = std::ranges::find(kRules, call.op, &std::pair<std::string_view, Rule>::first);
  if (rule == std::end(kRules)) return std::nullopt;
  try {
    return rule->second({call, open});
  } catch (const std::exception&) {
    return std::nullopt;  // attributes that do not fit, which the call's shape rule reports
  }
}

}  // namespace poprt::ops
