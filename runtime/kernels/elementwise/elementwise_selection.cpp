#include <array>

#include "runtime/kernels/elementwise/elementwise.hpp"
#include "runtime/kernels/elementwise/elementwise_map.hpp"
#include "runtime/kernels/kernel_attributes.hpp"

namespace poprt::kernels {
namespace {

/// NaN if either operand is.
struct MaxOp {
  template <typename T>
  T operator()(T a, T b) const {
    return LargerOrNan(a, b);
  }
};
struct MinOp {
  template <typename T>
  T operator()(T a, T b) const {
    return SmallerOrNan(a, b);
  }
};

struct SumOp {
  template <typename T>
  T operator()(T a, T b) const {
    return a + b;
  }
};

struct MeanOp {
  float count;
  explicit MeanOp(const KernelCall& call) : count(static_cast<float>(call.inputs.size())) {}
  template <typename T>
  T operator()(T a, T b) const {
    return a + b;
  }
  template <typename T>
  T operator()(T sum) const {
    return sum / T(count);
  }
};

/// Binds a fold over one or more operands of one type.
template <typename Op, TypeSet kTypes>
BoundKernel BindFold(const KernelCall& call) {
  RequireArity(call, 1, std::numeric_limits<std::size_t>::max());
  const ElementType element = call.inputs[0].element;
  RequireElement(call.inputs[0], kTypes, "input 0");
  for (std::size_t i = 1; i < call.inputs.size(); ++i) {
    RequireElement(call.inputs[i], Types({element}), "input " + std::to_string(i));
  }
  MapSpec spec{.op = MakeOp<Op>(call),
               .inputs = std::vector<ElementType>(call.inputs.size(), ComputeElement(element)),
               .result = ComputeElement(element),
               .output = element,
               .fold = true};
  VisitCompute<void, kTypes>(element, [&](auto type) {
    using T = typename decltype(type)::type;
    spec.loop = BinaryLoop<Op, T>;
    if constexpr (std::is_same_v<Op, MeanOp>) spec.finish = UnaryLoop<Op, T>;
  });
  return BindMap(call, std::move(spec));
}

/// A NaN stays; where the bounds cross, the upper one holds.
struct ClipOp {
  template <typename T>
  T operator()(T x, T low, T high) const {
    const T raised = Select(x < low, low, x);
    return Select(raised > high, high, raised);
  }
};
struct ClipLowOp {
  template <typename T>
  T operator()(T x, T low) const {
    return Select(x < low, low, x);
  }
};
struct ClipHighOp {
  template <typename T>
  T operator()(T x, T high) const {
    return Select(x > high, high, x);
  }
};
struct CopyOp {
  template <typename T>
  T operator()(T x) const {
    return x;
  }
};

/// Drops an absent operand before the last one: the bounds are told apart when binding.
BoundKernel BindClip(const KernelCall& call) {
  RequireArity(call, 1, 3);
  RequireElement(call.inputs[0], kNumericTypes, "input 0");
  const TensorType& low = InputOrAbsent(call, 1);
  const TensorType& high = InputOrAbsent(call, 2);
  for (const auto& [bound, what] : {std::pair(&low, "input 1"), std::pair(&high, "input 2")}) {
    if (!bound->defined()) continue;
    RequireElement(*bound, Types({call.inputs[0].element}), what);
    Require(bound->shape.empty() || bound->shape == Shape{1},
            std::string(what) + " is " + ToString(*bound) + ", expected a scalar");
  }
  RequireType(call.outputs[0], call.inputs[0], "output 0");

  KernelCall present{.inputs = {call.inputs[0]}, .outputs = call.outputs, .attributes = {}};
  // A bound of shape [1] must not give a scalar input a rank.
  for (const TensorType* bound : {&low, &high}) {
    if (bound->defined()) present.inputs.push_back({bound->element, {}});
  }
  const bool has_low = low.defined();
  const bool has_high = high.defined();
  const ElementType compute = ComputeElement(call.inputs[0].element);
  MapSpec spec{.op = MakeOp<CopyOp>(call),
               .inputs = std::vector<ElementType>(present.inputs.size(), compute),
               .result = compute,
               .output = call.inputs[0].element};
  VisitCompute<void, kNumericTypes>(call.inputs[0].element, [&](auto type) {
    using T = typename decltype(type)::type;
    spec.loop = has_low && has_high ? TernaryLoop<ClipOp, T, T, T>
                : has_low           ? BinaryLoop<ClipLowOp, T>
                : has_high          ? BinaryLoop<ClipHighOp, T>
                                    : UnaryLoop<CopyOp, T>;
  });
  BoundKernel bound = BindMap(present, std::move(spec));
  if (has_low || !has_high) return bound;
  return {.run = [run = std::move(bound.run)](const KernelArguments& args) {
    const std::array<const std::byte*, 2> inputs{args.inputs[0], args.inputs[2]};
    KernelArguments packed = args;
    packed.inputs = inputs;
    run(packed);
  }};
}

struct WhereOp {
  template <typename T>
  T operator()(bool condition, T yes, T no) const {
    return Select(condition, yes, no);
  }
};

// Only moves elements, hence by size: integers of the same size stand for all types.
BoundKernel BindWhere(const KernelCall& call) {
  RequireArity(call, 3, 3);
  const ElementType element = call.inputs[1].element;
  RequireElement(call.inputs[0], kBoolType, "input 0");
  RequireElement(call.inputs[1], kStoredTypes, "input 1");
  RequireElement(call.inputs[2], Types({element}), "input 2");
  MapSpec spec{.op = MakeOp<WhereOp>(call),
               .inputs = {ElementType::kBool, element, element},
               .result = element,
               .output = element};
  VisitSize<void>(element, [&](auto type) {
    using T = typename decltype(type)::type;
    spec.loop = TernaryLoop<WhereOp, Bool, T, T>;
  });
  return BindMap(call, std::move(spec));
}

constexpr auto kKernels = std::to_array<KernelDef>({
    {"Clip", BindClip},
    {"Max", BindFold<MaxOp, kNumericTypes>},
    {"Mean", BindFold<MeanOp, kFloatTypes>},
    {"Min", BindFold<MinOp, kNumericTypes>},
    {"Sum", BindFold<SumOp, kFloatTypes>},
    {"Where", BindWhere},
});

}  // namespace

std::span<const KernelDef> ExtremumKernels() { return kKernels; }

}  // namespace poprt::kernels
