#pragma once

#include <cstdint>
#include <iterator>

#include "runtime/kernels/fused/element_functions.hpp"
#include "runtime/kernels/packed/activations_impl.hpp"
#include "runtime/kernels/packed/vector_group.hpp"
#include "runtime/kernels/packed/vector_type.hpp"

// ElementFunctions written once over the vector type V of vector_type.hpp.
namespace poprt::kernels::elements {

/// x * 2^n for whole n from -150 to 129, which may be subnormal or infinite. `magic` is 1.5 * 2^23:
/// a sum with it holds an integer's bits.
template <class V>
typename V::Register Scaled(typename V::Register x, typename V::Register n,
                            typename V::Register magic) {
  if constexpr (requires { V::Scale(x, n); }) {
    return V::Scale(x, n);
  } else {
    // In two factors, the first of which rounds nothing.
    const auto half = V::MulAdd(n, V::Set(0.5F), magic);
    const auto other = V::Add(V::Sub(n, V::Sub(half, magic)), magic);
    return V::Mul(V::Mul(x, V::PowerOfTwo(half)), V::PowerOfTwo(other));
  }
}

/// e^x over the whole range.
template <class V>
typename V::Register FullExp(typename V::Register x) {
  x = V::Min(V::Set(89.0F), V::Max(V::Set(-104.0F), x));
  const auto magic = V::Set(12582912.0F);
  const auto n = V::Sub(V::MulAdd(x, V::Set(1.44269504088896341F), magic), magic);
  auto rest = V::MulAdd(n, V::Set(-0.693359375F), x);
  rest = V::MulAdd(n, V::Set(2.12194440e-4F), rest);
  const float coefficients[] = {1.9875691500e-4F, 1.3981999507e-3F, 8.3334519073e-3F,
                                4.1665795894e-2F, 1.6666665459e-1F, 5.0000001201e-1F};
  const auto tail = V::MulAdd(tile::Polynomial<V>(rest, coefficients), V::Mul(rest, rest), rest);
  return Scaled<V>(V::Add(tail, V::Set(1.0F)), n, magic);
}

/// The larger one, NaN if either is; `kSign` -1: the smaller one.
template <class V, int kSign>
typename V::Register Extreme(typename V::Register a, typename V::Register b) {
  const auto half = V::Set(0.5F);
  const auto equal_or_nan = V::Add(V::Mul(a, half), V::Mul(b, half));
  const auto a_if_greater = V::SelectLess(b, a, kSign > 0 ? a : b, equal_or_nan);
  return V::SelectLess(a, b, kSign > 0 ? b : a, a_if_greater);
}

template <class V, Activation kActivation>
struct Activated {
  static constexpr int kOperands = 1;
  static typename V::Register Of(typename V::Register x, typename V::Register) {
    return tile::Activate<V, kActivation>(x, Epilogue());
  }
};

// clang-format off
#define POPRT_ELEMENT_FUNCTION(NAME, OPERANDS, EXPRESSION)                             \
  template <class V>                                                                   \
  struct NAME {                                                                        \
    using R = typename V::Register;                                                    \
    static constexpr int kOperands = OPERANDS;                                         \
    static R Of(R a, [[maybe_unused]] R b) { return EXPRESSION; }                      \
  };
// clang-format on

POPRT_ELEMENT_FUNCTION(AddFunction, 2, V::Add(a, b))
POPRT_ELEMENT_FUNCTION(SubFunction, 2, V::Sub(a, b))
POPRT_ELEMENT_FUNCTION(MulFunction, 2, V::Mul(a, b))
POPRT_ELEMENT_FUNCTION(DivFunction, 2, V::Div(a, b))
POPRT_ELEMENT_FUNCTION(MaxFunction, 2, (Extreme<V, 1>(a, b)))
POPRT_ELEMENT_FUNCTION(MinFunction, 2, (Extreme<V, -1>(a, b)))
// Where a is NaN these two are, since the second operand of Max and Min is kept then.
POPRT_ELEMENT_FUNCTION(AtLeastFunction, 2, V::Max(b, a))
POPRT_ELEMENT_FUNCTION(AtMostFunction, 2, V::Min(b, a))
POPRT_ELEMENT_FUNCTION(SlopeFunction, 2, V::SelectLess(a, V::Zero(), V::Mul(a, b), a))
POPRT_ELEMENT_FUNCTION(NegFunction, 1, V::Mul(a, V::Set(-1.0F)))
POPRT_ELEMENT_FUNCTION(AbsFunction, 1, V::Abs(a))
POPRT_ELEMENT_FUNCTION(SqrtFunction, 1, V::Sqrt(a))
POPRT_ELEMENT_FUNCTION(RoundFunction, 1, V::Round(a))
POPRT_ELEMENT_FUNCTION(HalfFunction, 1, V::RoundHalf(a))
POPRT_ELEMENT_FUNCTION(ReciprocalFunction, 1, V::Div(V::Set(1.0F), a))
POPRT_ELEMENT_FUNCTION(ExpFunction, 1, FullExp<V>(a))
POPRT_ELEMENT_FUNCTION(ErfFunction, 1, tile::Erf<V>(a))

#undef POPRT_ELEMENT_FUNCTION

/// An operand of a loop: its elements, or the first of them again and again.
enum class Operand { kElements, kRepeated };

/// Computes whole registers of V from element `begin` on. Returns where they end.
template <class V, template <class> class F, Operand kA, Operand kB>
std::int64_t LoopOf(const float* a, const float* b, float* out, std::int64_t begin,
                    std::int64_t n) {
  constexpr bool kBinary = F<V>::kOperands == 2;
  const auto first_a = V::Set(kA == Operand::kRepeated ? *a : 0.0F);
  const auto first_b = V::Set(kB == Operand::kRepeated ? *b : 0.0F);
  std::int64_t i = begin;
  for (; i + V::kLanes <= n; i += V::kLanes) {
    const auto x = kA == Operand::kRepeated ? first_a : V::Load(a + i);
    if constexpr (!kBinary) {
      V::Store(F<V>::Of(x, x), out + i);
    } else if constexpr (kB == Operand::kRepeated) {
      V::Store(F<V>::Of(x, first_b), out + i);
    } else {
      V::Store(F<V>::Of(x, V::Load(b + i)), out + i);
    }
  }
  return i;
}

/// Elements until a place where a register can be stored within a cache line.
template <class V>
std::int64_t ElementsToAlign(const float* to) {
  constexpr std::uintptr_t kBytes = V::kLanes * sizeof(float);
  return static_cast<std::int64_t>((0 - reinterpret_cast<std::uintptr_t>(to)) % kBytes /
                                   sizeof(float));
}

/// Fewer elements are not worth it.
inline constexpr std::int64_t kAlignedFrom = 256;

template <class V, template <class> class F, Operand kA = Operand::kElements,
          Operand kB = Operand::kElements>
void Loop(const float* a, const float* b, float* out, std::int64_t n) {
  // What is repeated may be where the results go.
  const float single = kA == Operand::kRepeated ? *a : kB == Operand::kRepeated ? *b : 0.0F;
  if (kA == Operand::kRepeated) a = &single;
  if (kB == Operand::kRepeated) b = &single;
  const auto some = [=](std::int64_t first, std::int64_t count) {
    const auto part = [first, count](Operand operand, const float* from) {
      return operand == Operand::kRepeated ? V::Set(*from)
                                           : tile::LoadFirst<V>(from + first, count);
    };
    const auto x = part(kA, a);
    const auto y = F<V>::kOperands == 2 ? part(kB, b) : x;
    tile::StoreFirst<V>(F<V>::Of(x, y), out + first, count);
  };
  // Stores that cross cache lines take twice as long.
  const std::int64_t head = n < kAlignedFrom ? 0 : ElementsToAlign<V>(out);
  if (head > 0) some(0, head);
  std::int64_t i = LoopOf<tile::VectorGroup<V, 4>, F, kA, kB>(a, b, out, head, n);
  i = LoopOf<V, F, kA, kB>(a, b, out, i, n);
  if (i < n) some(i, n - i);
}

template <template <class> class F, class V>
constexpr ElementFunction Row(const char* name) {
  if constexpr (F<V>::kOperands == 1) {
    return {name, 1, Loop<V, F>, nullptr, nullptr};
  } else {
    return {name, 2, Loop<V, F>, Loop<V, F, Operand::kRepeated, Operand::kElements>,
            Loop<V, F, Operand::kElements, Operand::kRepeated>};
  }
}

template <class V>
using Relu = Activated<V, Activation::kRelu>;
template <class V>
using Sigmoid = Activated<V, Activation::kSigmoid>;
template <class V>
using Tanh = Activated<V, Activation::kTanh>;
template <class V>
using GeluErf = Activated<V, Activation::kGeluErf>;
template <class V>
using GeluTanh = Activated<V, Activation::kGeluTanh>;
template <class V>
using HardSwish = Activated<V, Activation::kHardSwish>;
template <class V>
using Silu = Activated<V, Activation::kSilu>;

template <class V>
inline constexpr ElementFunction kRows[] = {
    Row<AddFunction, V>("add"),
    Row<SubFunction, V>("sub"),
    Row<MulFunction, V>("mul"),
    Row<DivFunction, V>("div"),
    Row<MaxFunction, V>("max"),
    Row<MinFunction, V>("min"),
    Row<AtLeastFunction, V>("at_least"),
    Row<AtMostFunction, V>("at_most"),
    Row<SlopeFunction, V>("slope"),
    Row<NegFunction, V>("neg"),
    Row<AbsFunction, V>("abs"),
    Row<SqrtFunction, V>("sqrt"),
    Row<RoundFunction, V>("round"),
    Row<HalfFunction, V>("half"),
    Row<ReciprocalFunction, V>("reciprocal"),
    Row<ExpFunction, V>("exp"),
    Row<ErfFunction, V>("erf"),
    Row<Relu, V>("relu"),
    Row<Sigmoid, V>("sigmoid"),
    Row<Tanh, V>("tanh"),
    Row<GeluErf, V>("gelu_erf"),
    Row<GeluTanh, V>("gelu_tanh"),
    Row<HardSwish, V>("hardswish"),
    Row<Silu, V>("silu"),
};

template <class V>
inline constexpr ElementFunctions kFunctions = {kRows<V>, std::size(kRows<V>)};

}  // namespace poprt::kernels::elements
