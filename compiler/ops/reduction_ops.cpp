#include "compiler/ops/families.hpp"
#include "compiler/ops/inference.hpp"

namespace poprt::ops {
namespace {

/// `shape` with the named axes made 1 or taken away.
Shape ReducedShape(const Shape& shape, const std::vector<bool>& reduced, bool keep) {
  Shape result;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (!reduced[i]) {
      result.push_back(shape[i]);
    } else if (keep) {
      result.push_back(1);
    }
  }
  return result;
}

bool KeepsAxes(const Attributes& attributes) { return attributes.get_int("keepdims", 1) != 0; }

Types InferReduce(const InferenceCall& call) {
  const TensorType& data = call.input(0);
  const Ints axes = call.attributes.get_ints("axes");
  if (axes.empty() && call.attributes.get_int("noop_with_empty_axes", 0) != 0) return {data};
  std::vector<bool> reduced(data.shape.size(), true);
  if (!axes.empty()) reduced = NamedAxes(axes, data.shape.size(), "axes");
  return {{data.element, ReducedShape(data.shape, reduced, KeepsAxes(call.attributes))}};
}

Types InferArithmeticReduce(const InferenceCall& call) {
  RequireWideIntegers(call);
  return InferReduce(call);
}

Types InferExtremum(const InferenceCall& call) {
  RequireNoNarrowElements(call);
  const TensorType& data = call.input(0);
  Require(!IsInteger(data.element) || ElementSize(data.element) != 2, "input 0 is ", data,
          ", its integers must not have 16 bits");
  return InferReduce(call);
}

Types InferArg(const InferenceCall& call) {
  const TensorType& data = call.input(0);
  const std::size_t axis = AxisAttribute(call.attributes, "axis", 0, data.shape.size());
  Require(data.shape[axis] > 0, "input 0 is ", data, ", axis ", axis, " must not be empty");
  std::vector<bool> reduced(data.shape.size());
  reduced[axis] = true;
  return {{ElementType::kInt64, ReducedShape(data.shape, reduced, KeepsAxes(call.attributes))}};
}

Types InferCumulative(const InferenceCall& call) {
  RequireWideIntegers(call);
  NormalizedAxis(StaticInt(call.attributes, "axis"), call.input(0).shape.size(), "axis");
  return SameAsInput(call);
}

OpDef Cumulative(std::string_view name, int since) {
  return {.name = name,
          .since = since,
          .types = TypeSet::kNumeric,
          .static_inputs = {{.index = 1, .attribute = "axis", .input_since = since}},
          .infer = InferCumulative};
}

OpDef Reduce(std::string_view name, int axes_input_since = 18) {
  return {.name = name,
          .types = TypeSet::kNumeric,
          .static_inputs = {{.index = 1, .attribute = "axes", .input_since = axes_input_since}},
          .infer = InferArithmeticReduce};
}

OpDef Extremum(std::string_view name) {
  OpDef row = Reduce(name);
  row.types = TypeSet::kAll;
  row.infer = InferExtremum;
  return row;
}

}  // namespace

std::span<const OpDef> ReductionOps() {
  static const OpDef rows[] = {
      Reduce("ReduceL1"),
      Reduce("ReduceL2"),
      Reduce("ReduceLogSum"),
      Reduce("ReduceLogSumExp"),
      Extremum("ReduceMax"),
      Reduce("ReduceMean"),
      Extremum("ReduceMin"),
      Reduce("ReduceProd"),
      Reduce("ReduceSum", 13),
      Reduce("ReduceSumSquare"),
      {.name = "ArgMax", .types = TypeSet::kNumeric, .infer = InferArg},
      {.name = "ArgMin", .types = TypeSet::kNumeric, .infer = InferArg},
      Cumulative("CumProd", 26),
      Cumulative("CumSum", 11),
  };
  return rows;
}

}  // namespace poprt::ops
