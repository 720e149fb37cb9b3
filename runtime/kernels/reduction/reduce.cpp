#include <array>
#include <cmath>
#include <memory>

#include "runtime/kernels/elementwise/float_math.hpp"
#include "runtime/kernels/elementwise/integer_math.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/reduction/reducer.hpp"
#include "runtime/kernels/reduction/reduction.hpp"
#include "runtime/kernels/wide_loops.hpp"

namespace poprt::kernels {
namespace {

// Results of totals: C is the computing type, `count` the elements of each.

struct AsItIs {
  template <typename C>
  static C Result(WideOf<C> total, C /*shift*/, std::int64_t /*count*/) {
    return static_cast<C>(total);
  }
  static constexpr bool kOnlyFloat = false;  // computes integers in double
};

struct DividedByCount : AsItIs {
  template <typename C>
  static C Result(WideOf<C> total, C /*shift*/, std::int64_t count) {
    if constexpr (std::is_integral_v<C>) {
      return SafeDiv(total, static_cast<C>(count));
    } else {
      return static_cast<C>(total / static_cast<WideOf<C>>(count));
    }
  }
};

struct SquareRoot {
  template <typename C>
  static C Result(WideOf<C> total, C /*shift*/, std::int64_t /*count*/) {
    return static_cast<C>(Sqrt(total));
  }
  static constexpr bool kOnlyFloat = true;
};

struct Logarithm {
  template <typename C>
  static C Result(WideOf<C> total, C shift, std::int64_t /*count*/) {
    return static_cast<C>(std::log(total) + static_cast<WideOf<C>>(shift));
  }
  static constexpr bool kOnlyFloat = true;
};

template <typename Finish, typename C>
void FinishAll(const WideOf<C>* totals, const C* shifts, std::int64_t n, std::int64_t count,
               C* results) {
  RunWide<C>([=] {
    POPRT_INDEPENDENT_LOOP
    for (std::int64_t i = 0; i < n; ++i) {
      results[i] = Finish::template Result<C>(totals[i], shifts[i], count);
    }
  });
}

/// The axes to reduce: those named, else all unless the call says that none means none.
std::vector<bool> ReducedAxes(const KernelCall& call, std::size_t rank) {
  const Ints axes = IntsAttribute(call, "axes");
  const bool noop = FlagAttribute(call, "noop_with_empty_axes", false);
  if (axes.empty()) return std::vector<bool>(rank, !noop);
  return AxesMask(axes, rank, "axes");
}

Shape ReducedShape(const Shape& shape, const std::vector<bool>& mask, bool keepdims) {
  Shape result;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (!mask[d]) {
      result.push_back(shape[d]);
    } else if (keepdims) {
      result.push_back(1);
    }
  }
  return result;
}

template <typename Fold, typename Finish, TypeSet kTypes>
BoundKernel BindReduce(const KernelCall& call) {
  RequireArity(call, 1, 1);
  const TensorType& input = call.inputs[0];
  RequireElement(input, kTypes, "input 0");
  const std::vector<bool> mask = ReducedAxes(call, input.shape.size());
  const bool keepdims = FlagAttribute(call, "keepdims", true);
  RequireType(call.outputs[0], {input.element, ReducedShape(input.shape, mask, keepdims)},
              "output 0");
  const auto bind = [&]<typename C>(C /*computed*/) -> BoundKernel {
    const auto reducer = std::make_shared<const Reducer<Fold, C>>(
        AnalyseReduction(input.shape, mask), input.element, &FinishAll<Finish, C>);
    return {.run = [reducer](const KernelArguments& args) { reducer->Run(args); },
            .scratch_bytes = reducer->scratch_bytes()};
  };
  if (input.element == ElementType::kFloat64) return bind(double{});
  if (IsFloat(input.element)) return bind(float{});
  if constexpr (Finish::kOnlyFloat) {
    return bind(double{});
  } else {
    if constexpr (Fold::kSelects) {
      // One of the elements needs no wider type than they have.
      if (input.element == ElementType::kInt32) return bind(std::int32_t{});
      if (input.element == ElementType::kInt8) return bind(std::int8_t{});
      if (input.element == ElementType::kUint8) return bind(std::uint8_t{});
    }
    if (Contains(kSignedTypes, input.element)) return bind(std::int64_t{});
    return bind(std::uint64_t{});
  }
}

constexpr TypeSet kSummable = kFloatTypes | Types({ElementType::kInt32, ElementType::kInt64,
                                                   ElementType::kUint32, ElementType::kUint64});
constexpr TypeSet kComparable =
    kSummable | Types({ElementType::kInt8, ElementType::kUint8, ElementType::kBool});

constexpr auto kKernels = std::to_array<KernelDef>({
    {"ReduceL1", BindReduce<AbsFold, AsItIs, kSummable>},
    {"ReduceL2", BindReduce<SquareFold, SquareRoot, kSummable>},
    {"ReduceLogSum", BindReduce<SumFold, Logarithm, kSummable>},
    {"ReduceLogSumExp", BindReduce<ExpFold, Logarithm, kSummable>},
    {"ReduceMax", BindReduce<MaxFold, AsItIs, kComparable>},
    {"ReduceMean", BindReduce<SumFold, DividedByCount, kSummable>},
    {"ReduceMin", BindReduce<MinFold, AsItIs, kComparable>},
    {"ReduceProd", BindReduce<ProductFold, AsItIs, kSummable>},
    {"ReduceSum", BindReduce<SumFold, AsItIs, kSummable>},
    {"ReduceSumSquare", BindReduce<SquareFold, AsItIs, kSummable>},
});

}  // namespace

std::span<const KernelDef> ReduceKernels() { return kKernels; }

}  // namespace poprt::kernels
