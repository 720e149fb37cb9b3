#include "compiler/ops/open_axis.hpp"

#include <algorithm>
#include <exception>

#include "compiler/ops/families.hpp"
#include "compiler/ops/inference.hpp"
#include "compiler/ops/open_call.hpp"

namespace poprt::ops {
namespace {

using Axis = OpenCall::Axis;
using Carried = std::optional<CarriedAxis>;

/// One whose outputs have types.
struct TypedCall : OpenCall {
  const std::vector<TensorType>& outputs;

  const Shape& result() const { return outputs[0].shape; }
};

Carried At(Axis axis) {
  if (!axis) return std::nullopt;
  return CarriedAxis{.axis = *axis};
}

using Rule = Carried (*)(const TypedCall& call);

/// Inputs broadcast; those that are not open must be one long along the axis.
Carried Elementwise(const TypedCall& call) {
  const std::size_t rank = call.result().size();
  Axis target;
  for (std::size_t i = 0; i < call.open.size(); ++i) {
    if (!call.open[i]) continue;
    const std::size_t axis = *call.open[i] + rank - call.shape(i).size();
    if (target && *target != axis) return std::nullopt;
    target = axis;
  }
  for (std::size_t i = 0; i < call.call.inputs.size(); ++i) {
    const std::size_t missing = rank - std::min(rank, call.shape(i).size());
    const bool is_there = call.call.input(i).defined() && *target >= missing;
    if (is_there && !call.axis(i) && call.shape(i)[*target - missing] != 1) return std::nullopt;
  }
  return At(target);
}

Carried Transpose(const TypedCall& call) {
  const std::size_t rank = call.shape(0).size();
  const Ints perm = call.attributes().get_ints("perm");
  if (perm.empty()) return At(rank - 1 - *call.axis(0));
  const auto at = std::find(perm.begin(), perm.end(), static_cast<std::int64_t>(*call.axis(0)));
  return At(static_cast<std::size_t>(at - perm.begin()));
}

/// The axis of the result with as many elements before it and the same bound.
template <typename F>
Carried Keeping(const TypedCall& call, const F& may_be_open) {
  const std::size_t axis = *call.axis(0);
  const auto before = [](const Shape& shape, std::size_t end) {
    return ElementCount({shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(end)});
  };
  for (std::size_t i = 0; i < call.result().size(); ++i) {
    const bool fits = call.result()[i] == call.shape(0)[axis] &&
                      before(call.result(), i) == before(call.shape(0), axis);
    if (fits && may_be_open(i)) return At(i);
  }
  return std::nullopt;
}

Carried Flatten(const TypedCall& call) {
  return Keeping(call, [](std::size_t) { return true; });
}

/// Where the shape leaves the extent open, or keeps it. A number says what it is: where all are
/// numbers the extent must be its bound, where one is left open it need not.
Carried Reshape(const TypedCall& call) {
  const Ints wanted = call.attributes().get_ints("shape");
  const bool zero_keeps = call.attributes().get_int("allowzero", 0) == 0;
  const bool all_known = std::count(wanted.begin(), wanted.end(), kOpenExtent) == 0;
  return Keeping(call, [&](std::size_t i) {
    const bool keeps = wanted[i] == 0 && zero_keeps && i == *call.axis(0);
    return wanted[i] == kOpenExtent || keeps || all_known;
  });
}

Carried Squeeze(const TypedCall& call) {
  const std::size_t axis = *call.axis(0);
  const std::size_t rank = call.shape(0).size();
  const Ints axes = call.attributes().get_ints("axes");
  std::vector<bool> gone = NamedAxes(axes, rank, "axes");
  for (std::size_t i = 0; axes.empty() && i < rank; ++i) gone[i] = call.shape(0)[i] == 1;
  if (gone[axis]) return std::nullopt;
  const auto end = gone.begin() + static_cast<std::ptrdiff_t>(axis);
  return At(axis - static_cast<std::size_t>(std::count(gone.begin(), end, true)));
}

Carried Unsqueeze(const TypedCall& call) {
  const std::size_t rank = call.result().size();
  const std::vector<bool> added = NamedAxes(call.attributes().get_ints("axes"), rank, "axes");
  std::size_t left = *call.axis(0);
  for (std::size_t i = 0; i < rank; ++i) {
    if (!added[i] && left-- == 0) return At(i);
  }
  return std::nullopt;
}

/// To the extent that it has, or to one, which is the same.
Carried Expand(const TypedCall& call) {
  const std::size_t moved = *call.axis(0) + call.result().size() - call.shape(0).size();
  const Ints wanted = call.attributes().get_ints("shape");
  const std::size_t missing = call.result().size() - wanted.size();
  const bool keeps =
      moved < missing || wanted[moved - missing] == 1 || wanted[moved - missing] == kOpenExtent;
  return keeps ? At(moved) : std::nullopt;
}

/// The operator works along other axes than the open one of input 0, which keep their extents.
Carried Along(const TypedCall& call, const std::vector<bool>& axes) {
  const Axis axis = call.OnlyAxis(0);
  return axis && !axes[*axis] ? At(axis) : std::nullopt;
}

template <std::int64_t kDefault>
Carried AlongAxis(const TypedCall& call) {
  const std::size_t rank = call.shape(0).size();
  std::int64_t axis = kDefault;
  if (call.attributes().has("axis")) axis = StaticInt(call.attributes(), "axis");
  return Along(call, NamedAxes({axis}, rank, "axis"));
}

/// From the front results depend on what is before them only.
Carried Cumulative(const TypedCall& call) {
  if (call.attributes().get_int("reverse", 0) == 0) return At(call.OnlyAxis(0));
  return AlongAxis<0>(call);
}

/// The points of a grid, which is [batch, ..., coordinates], give pixels of [batch, channels, ...].
Carried GridSample(const TypedCall& call) {
  const Axis axis = call.OnlyAxis(1);
  if (!axis || *axis == 0 || *axis + 1 >= call.shape(1).size()) return std::nullopt;
  return At(*axis + 1);
}

/// All axes from `axis` on.
Carried FromAxis(const TypedCall& call) {
  const std::size_t first = AxisAttribute(call.attributes(), "axis", -1, call.shape(0).size());
  const Axis axis = call.OnlyAxis(0);
  return axis && *axis < first ? At(axis) : std::nullopt;
}

Carried Reduce(const TypedCall& call) {
  const std::size_t rank = call.shape(0).size();
  Ints axes = call.attributes().get_ints("axes");
  if (call.call.op == "ArgMax" || call.call.op == "ArgMin") {
    axes = {call.attributes().get_int("axis", 0)};
  }
  std::vector<bool> reduced = NamedAxes(axes, rank, "axes");
  if (axes.empty() && call.attributes().get_int("noop_with_empty_axes", 0) == 0) {
    reduced.assign(rank, true);
  }
  const std::size_t axis = *call.axis(0);
  if (reduced[axis]) return std::nullopt;
  if (call.attributes().get_int("keepdims", 1) != 0) return At(axis);
  const auto end = reduced.begin() + static_cast<std::ptrdiff_t>(axis);
  return At(axis - static_cast<std::size_t>(std::count(reduced.begin(), end, true)));
}

Carried Concat(const TypedCall& call) {
  const std::size_t rank = call.shape(0).size();
  const std::size_t joined = AxisAttribute(call.attributes(), "axis", 0, rank);
  const Axis axis = call.axis(0);
  const bool all = std::all_of(call.open.begin(), call.open.end(),
                               [&](const Axis& other) { return other && other == axis; });
  return all && axis != joined ? At(axis) : std::nullopt;
}

/// Along the open axis a slice may leave out the first elements and those after some position.
Carried Slice(const TypedCall& call) {
  const std::size_t rank = call.shape(0).size();
  const Ints starts = call.attributes().get_ints("starts");
  const Ints ends = call.attributes().get_ints("ends");
  const Ints axes = call.attributes().get_ints("axes");
  const Ints steps = call.attributes().get_ints("steps");
  CarriedAxis carried{.axis = *call.axis(0)};
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::size_t axis = axes.empty() ? i : NormalizedAxis(axes[i], rank, "axes");
    if (axis != carried.axis) continue;
    const bool from_front = starts[i] >= 0 && ends[i] >= 0 && (steps.empty() || steps[i] == 1);
    if (!from_front) return std::nullopt;
    carried.skipped = starts[i];
  }
  return carried;
}

Carried Tile(const TypedCall& call) {
  const std::size_t axis = *call.axis(0);
  return call.attributes().get_ints("repeats")[axis] == 1 ? At(axis) : std::nullopt;
}

Carried Pad(const TypedCall& call) {
  const std::size_t rank = call.shape(0).size();
  const Axis axis = call.OnlyAxis(0);
  if (!axis || call.result()[*axis] != call.shape(0)[*axis]) return std::nullopt;
  const Ints pads = call.attributes().get_ints("pads");
  const Ints axes = call.attributes().get_ints("axes");
  for (std::size_t i = 0; i < pads.size() / 2; ++i) {
    const std::size_t padded = axes.empty() ? i : NormalizedAxis(axes[i], rank, "axes");
    if (padded == *axis && pads[i] != 0) return std::nullopt;
  }
  return At(axis);
}

Carried Gather(const TypedCall& call) {
  const std::size_t gathered = AxisAttribute(call.attributes(), "axis", 0, call.shape(0).size());
  if (const Axis axis = call.OnlyAxis(1)) return At(gathered + *axis);
  const Axis axis = call.OnlyAxis(0);
  if (!axis || *axis == gathered) return std::nullopt;
  return At(*axis < gathered ? *axis : *axis + call.shape(1).size() - 1);
}

Carried GatherElements(const TypedCall& call) {
  const std::size_t gathered = AxisAttribute(call.attributes(), "axis", 0, call.shape(0).size());
  const Axis axis = call.axis(1);
  if (!axis || (call.axis(0) && (call.axis(0) != axis || *axis == gathered))) return std::nullopt;
  return At(axis);
}

Carried GatherND(const TypedCall& call) {
  const auto batch_dims = static_cast<std::size_t>(call.attributes().get_int("batch_dims", 0));
  const std::size_t tuple_axis = call.shape(1).size() - 1;
  if (const Axis axis = call.OnlyAxis(1)) {
    return *axis >= batch_dims && *axis < tuple_axis ? At(axis) : std::nullopt;
  }
  const Axis axis = call.OnlyAxis(0);
  const std::size_t first = batch_dims + static_cast<std::size_t>(call.shape(1)[tuple_axis]);
  if (!axis || *axis < first) return std::nullopt;
  return At(tuple_axis + *axis - first);
}

Carried OneHot(const TypedCall& call) {
  const Axis axis = call.OnlyAxis(0);
  if (!axis) return std::nullopt;
  const std::size_t added = AxisAttribute(call.attributes(), "axis", -1, call.result().size());
  return At(*axis < added ? *axis : *axis + 1);
}

/// Rows of the first matrix, columns of the second.
Carried MatMul(const TypedCall& call) {
  const std::size_t left = call.shape(0).size();
  const std::size_t right = call.shape(1).size();
  const std::size_t rank = call.result().size();
  if (const Axis axis = call.OnlyAxis(0); axis && left >= 2 && *axis == left - 2) {
    return At(rank - (right >= 2 ? 2 : 1));
  }
  // A stack of matrices times one.
  if (const Axis axis = call.OnlyAxis(0); axis && *axis + 2 < left && right <= 2) return At(axis);
  if (const Axis axis = call.OnlyAxis(1); axis && right >= 2 && *axis == right - 1) {
    return At(rank - 1);
  }
  return std::nullopt;
}

Carried Gemm(const TypedCall& call) {
  const auto is_transposed = [&](const char* name) {
    return call.attributes().get_int(name, 0) != 0;
  };
  Axis target;
  if (const Axis axis = call.OnlyAxis(0); axis == (is_transposed("transA") ? 1U : 0U)) target = 0;
  if (const Axis axis = call.OnlyAxis(1); axis == (is_transposed("transB") ? 0U : 1U)) target = 1;
  if (!target || !call.call.input(2).defined()) return At(target);
  const Shape& bias = call.shape(2);
  const std::size_t missing = 2 - bias.size();
  const bool is_constant = *target < missing || bias[*target - missing] == 1;
  return is_constant ? At(target) : std::nullopt;
}

/// Every element along axis 0 of the inputs at which `is_item` is true is an item of its own.
template <bool (*is_item)(std::size_t input)>
Carried Items(const TypedCall& call) {
  for (std::size_t i = 0; i < call.open.size(); ++i) {
    if (!call.call.input(i).defined()) continue;
    if (is_item(i) ? call.open[i] != 0U : call.open[i].has_value()) return std::nullopt;
  }
  return At(0);
}

bool IsFirst(std::size_t input) { return input == 0; }
bool IsRegion(std::size_t input) { return input > 0; }

struct Row {
  std::string_view op;
  Rule rule;
};

/// Operators other than the elementwise ones.
constexpr Row kRows[] = {
    {"ArgMax", Reduce},
    {"ArgMin", Reduce},
    {"AveragePool", Items<IsFirst>},
    {"BatchNormalization", Items<IsFirst>},
    {"BitCast", Elementwise},
    {"Concat", Concat},
    {"Conv", Items<IsFirst>},
    {"ConvTranspose", Items<IsFirst>},
    {"CumProd", Cumulative},
    {"CumSum", Cumulative},
    {"DepthToSpace", Items<IsFirst>},
    {"DequantizeLinear", Elementwise},
    {"Dropout", Elementwise},
    {"Expand", Expand},
    {"Flatten", Flatten},
    {"Gather", Gather},
    {"GatherElements", GatherElements},
    {"GatherND", GatherND},
    {"Gemm", Gemm},
    {"GlobalAveragePool", Items<IsFirst>},
    {"GlobalMaxPool", Items<IsFirst>},
    {"GridSample", GridSample},
    {"Hardmax", AlongAxis<-1>},
    {"Identity", Elementwise},
    {"InstanceNormalization", Items<IsFirst>},
    {"LRN", Items<IsFirst>},
    {"LayerNormalization", FromAxis},
    {"LogSoftmax", AlongAxis<-1>},
    {"LpNormalization", AlongAxis<-1>},
    {"MatMul", MatMul},
    {"MaxPool", Items<IsFirst>},
    {"OneHot", OneHot},
    {"Pad", Pad},
    {"QuantizeLinear", Elementwise},
    {"RMSNormalization", FromAxis},
    {"ReduceL1", Reduce},
    {"ReduceL2", Reduce},
    {"ReduceLogSum", Reduce},
    {"ReduceLogSumExp", Reduce},
    {"ReduceMax", Reduce},
    {"ReduceMean", Reduce},
    {"ReduceMin", Reduce},
    {"ReduceProd", Reduce},
    {"ReduceSum", Reduce},
    {"ReduceSumSquare", Reduce},
    {"Reshape", Reshape},
    {"RoiAlign", Items<IsRegion>},
    {"Slice", Slice},
    {"Softmax", AlongAxis<-1>},
    {"SpaceToDepth", Items<IsFirst>},
    {"Split", AlongAxis<0>},
    {"Squeeze", Squeeze},
    {"Tile", Tile},
    {"TopK", AlongAxis<-1>},
    {"Transpose", Transpose},
    {"Unsqueeze", Unsqueeze},
};

Rule FindRule(std::string_view op) {
  const auto row = std::find_if(std::begin(kRows), std::end(kRows),
                                [op](const Row& candidate) { return candidate.op == op; });
  if (row != std::end(kRows)) return row->rule;
  const auto elementwise = ElementwiseOps();
  const bool is_elementwise = std::any_of(elementwise.begin(), elementwise.end(),
                                          [op](const OpDef& def) { return def.name == op; });
  return is_elementwise ? Elementwise : nullptr;
}

}  // namespace

std::optional<CarriedAxis> CarryOpenAxis(const InferenceCall& call,
                                         const std::vector<TensorType>& outputs,
                                         std::span<const std::optional<std::size_t>> open) {
  const Rule rule = FindRule(call.op);
  if (rule == nullptr) return std::nullopt;
  try {
    return rule({{call, open}, outputs});
  } catch (const std::exception&) {
    return std::nullopt;  // attributes that do not fit, which the call's shape rule reports
  }
}

}  // namespace poprt::ops
