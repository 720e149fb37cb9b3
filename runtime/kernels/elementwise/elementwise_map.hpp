#pragma once

#include <algorithm>
#include <concepts>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/kernels/element_types.hpp"
#include "runtime/kernels/elementwise/float_math.hpp"
#include "runtime/kernels/kernel.hpp"
#include "runtime/kernels/parallel.hpp"
#include "runtime/kernels/wide_loops.hpp"

/// The machinery of all elementwise operators: NumPy broadcasting, conversion between the stored
/// and the computing types, and distribution over threads, around a loop over contiguous elements.
namespace poprt::kernels {

/// Computes n elements of `out` from those of the operands, all of computing types. `op` is the
/// functor with its attributes. `out` may be the memory of an operand.
using MapLoop = void (*)(const void* op, const std::byte* const* in, std::byte* out,
                         std::int64_t n);

/// An elementwise operator with its types chosen.
struct MapSpec {
  MapLoop loop = nullptr;
  std::shared_ptr<const void> op;
  /// Computing type of every input of the call.
  std::vector<ElementType> inputs;
  /// Computing and stored type of the output.
  ElementType result = ElementType::kUndefined;
  ElementType output = ElementType::kUndefined;
  /// The loop is binary and folds any number of inputs of one computing type from the left.
  bool fold = false;
  /// After a fold, when not null: applied to the result with `op`.
  MapLoop finish = nullptr;
};

/// Checks that the shapes broadcast and that the output has the type which follows, and binds.
/// At most three inputs unless it is a fold.
BoundKernel BindMap(const KernelCall& call, MapSpec spec);

/// The value of a stored element and back, for types that are their own computing type.
template <typename T>
POPRT_INLINE auto ValueOf(T element) {
  if constexpr (std::is_same_v<T, Bool>) {
    return static_cast<bool>(element);
  } else {
    return element;
  }
}
template <typename T>
POPRT_INLINE auto ElementOf(T value) {
  if constexpr (std::is_same_v<T, bool>) {
    return Bool(value);
  } else {
    return value;
  }
}

/// A functor that branches, with BranchFree(x) the same wherever IsBranchFree(x).
template <typename Op, typename T>
concept MostlyBranchFree = std::is_same_v<T, float> && requires(T x) {
  { Op::IsBranchFree(x) } -> std::same_as<bool>;
  { Op::BranchFree(x) } -> std::same_as<T>;
};

/// Vectorises the chunks in which no element needs a branch.
template <typename Op>
void ChunkedLoop(const Op& f, const float* x, float* y, std::int64_t n) {
  constexpr std::int64_t kChunk = 256;
  for (std::int64_t begin = 0; begin < n; begin += kChunk) {
    const std::int64_t end = std::min(n, begin + kChunk);
    int branch_free = 1;
    for (std::int64_t i = begin; i < end; ++i) branch_free &= Op::IsBranchFree(x[i]) ? 1 : 0;
    if (branch_free != 0) {
      POPRT_INDEPENDENT_LOOP
      for (std::int64_t i = begin; i < end; ++i) y[i] = Op::BranchFree(x[i]);
    } else {
      for (std::int64_t i = begin; i < end; ++i) y[i] = f(x[i]);
    }
  }
}

template <typename Op, typename T>
void UnaryLoop(const void* op, const std::byte* const* in, std::byte* out, std::int64_t n) {
  const Op f = *static_cast<const Op*>(op);
  const T* x = reinterpret_cast<const T*>(in[0]);
  using Result = decltype(ElementOf(f(ValueOf(*x))));
  Result* y = reinterpret_cast<Result*>(out);
  RunWide([=] {
    if constexpr (MostlyBranchFree<Op, T>) {
      ChunkedLoop(f, x, y, n);
    } else {
      POPRT_INDEPENDENT_LOOP
      for (std::int64_t i = 0; i < n; ++i) y[i] = ElementOf(f(ValueOf(x[i])));
    }
  });
}

template <typename Op, typename A, typename B = A>
void BinaryLoop(const void* op, const std::byte* const* in, std::byte* out, std::int64_t n) {
  const Op f = *static_cast<const Op*>(op);
  const A* a = reinterpret_cast<const A*>(in[0]);
  const B* b = reinterpret_cast<const B*>(in[1]);
  using Result = decltype(ElementOf(f(ValueOf(*a), ValueOf(*b))));
  Result* y = reinterpret_cast<Result*>(out);
  RunWide([=] {
    POPRT_INDEPENDENT_LOOP
    for (std::int64_t i = 0; i < n; ++i) y[i] = ElementOf(f(ValueOf(a[i]), ValueOf(b[i])));
  });
}

template <typename Op, typename A, typename B, typename C>
void TernaryLoop(const void* op, const std::byte* const* in, std::byte* out, std::int64_t n) {
  const Op f = *static_cast<const Op*>(op);
  const A* a = reinterpret_cast<const A*>(in[0]);
  const B* b = reinterpret_cast<const B*>(in[1]);
  const C* c = reinterpret_cast<const C*>(in[2]);
  using Result = decltype(ElementOf(f(ValueOf(*a), ValueOf(*b), ValueOf(*c))));
  Result* y = reinterpret_cast<Result*>(out);
  RunWide([=] {
    POPRT_INDEPENDENT_LOOP
    for (std::int64_t i = 0; i < n; ++i) {
      y[i] = ElementOf(f(ValueOf(a[i]), ValueOf(b[i]), ValueOf(c[i])));
    }
  });
}

/// The functor, made from the attributes of the call when it has any.
template <typename Op>
std::shared_ptr<const Op> MakeOp(const KernelCall& call) {
  if constexpr (std::is_constructible_v<Op, const KernelCall&>) {
    return std::make_shared<const Op>(call);
  } else {
    return std::make_shared<const Op>();
  }
}

template <typename Op, typename T>
using UnaryResult = decltype(ElementOf(std::declval<Op>()(ValueOf(std::declval<T>()))));

/// The type an operator stores: its computing type, or the narrower type that was computed in it.
template <typename Result, typename T>
ElementType StoredElement(ElementType input) {
  return std::is_same_v<Result, T> ? input : kElementOf<Result>;
}

/// Binds a functor over one operand of any type in kTypes; `T operator()(T)` or
/// `bool operator()(T)`.
template <typename Op, TypeSet kTypes>
BoundKernel BindUnary(const KernelCall& call) {
  RequireArity(call, 1, 1);
  const ElementType input = call.inputs[0].element;
  RequireElement(call.inputs[0], kTypes, "input 0");
  MapSpec spec{.op = MakeOp<Op>(call), .inputs = {ComputeElement(input)}};
  VisitCompute<void, kTypes>(input, [&](auto type) {
    using T = typename decltype(type)::type;
    using Result = UnaryResult<Op, T>;
    spec.loop = UnaryLoop<Op, T>;
    spec.result = kElementOf<Result>;
    spec.output = StoredElement<Result, T>(input);
  });
  return BindMap(call, std::move(spec));
}

/// Binds a functor over two operands of the same type, one in kTypes.
template <typename Op, TypeSet kTypes>
BoundKernel BindBinary(const KernelCall& call) {
  RequireArity(call, 2, 2);
  const ElementType input = call.inputs[0].element;
  RequireElement(call.inputs[0], kTypes, "input 0");
  RequireElement(call.inputs[1], Types({input}), "input 1");
  MapSpec spec{.op = MakeOp<Op>(call), .inputs = {ComputeElement(input), ComputeElement(input)}};
  VisitCompute<void, kTypes>(input, [&](auto type) {
    using T = typename decltype(type)::type;
    using Value = decltype(ValueOf(std::declval<T>()));
    using Result =
        decltype(ElementOf(std::declval<Op>()(std::declval<Value>(), std::declval<Value>())));
    spec.loop = BinaryLoop<Op, T>;
    spec.result = kElementOf<Result>;
    spec.output = StoredElement<Result, T>(input);
  });
  return BindMap(call, std::move(spec));
}

}  // namespace poprt::kernels
