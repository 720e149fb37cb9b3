#pragma once

#include <cstdint>

// A vector type V of twice as many lanes as another one has, see packed/vector_type.hpp.
namespace poprt::kernels::testing {

/// Half is a V of blocked/conv_micro_kernels_impl.hpp with all that packed/vector_type.hpp lists.
/// No function is inlined and no loop unrolled further than its registers ask for: that would
/// compile for minutes.
template <class Half>
struct VectorPair {
  static constexpr int kLanes = 2 * Half::kLanes;
  static constexpr int kPanels = 2;
  static constexpr int kRows = 8;
  static constexpr bool kUnrolls = false;
  struct Register {
    typename Half::Register low;
    typename Half::Register high;
  };
  using Eight = typename Half::Eight;
  using R = const Register&;

  [[gnu::noinline]] static Register Zero() { return {Half::Zero(), Half::Zero()}; }
  [[gnu::noinline]] static Register Set(float x) { return {Half::Set(x), Half::Set(x)}; }
  template <int kUses>
  [[gnu::noinline]] static Register Repeat(const float* p) {
    return Set(*p);
  }
  template <class T>
  [[gnu::noinline]] static Register Load(const T* p) {
    return {Half::Load(p), Half::Load(p + Half::kLanes)};
  }
  template <class Use>
  [[gnu::noinline]] static void EachScaled(const std::int32_t* line, Use use) {
    typename Half::Register low[2];
    Half::EachScaled(line, [&](auto row, auto lanes) { low[row] = lanes; });
    Half::EachScaled(line + Half::kLanes, [&](auto row, auto high) {
      use(row, Register{low[row], high});
    });
  }
  template <class T>
  [[gnu::noinline]] static void Store(R x, T* p) {
    Half::Store(x.low, p);
    Half::Store(x.high, p + Half::kLanes);
  }
  [[gnu::noinline]] static Register LoadFirst(const float* p, std::int64_t count) {
    if (count < Half::kLanes) return {Half::LoadFirst(p, count), Half::Zero()};
    return {Half::Load(p), Half::LoadFirst(p + Half::kLanes, count - Half::kLanes)};
  }
  [[gnu::noinline]] static void StoreFirst(R x, float* p, std::int64_t count) {
    if (count < Half::kLanes) return Half::StoreFirst(x.low, p, count);
    Half::Store(x.low, p);
    Half::StoreFirst(x.high, p + Half::kLanes, count - Half::kLanes);
  }
  [[gnu::noinline]] static Register KeepFirst(R x, std::int64_t count) {
    return {Half::KeepFirst(x.low, count), Half::KeepFirst(x.high, count - Half::kLanes)};
  }
  [[gnu::noinline]] static Register Even(R a, R b) {
    return {Half::Even(a.low, a.high), Half::Even(b.low, b.high)};
  }
  [[gnu::noinline]] static typename Half::Register Low(R x) { return x.low; }
  [[gnu::noinline]] static float FirstLane(R x) { return Half::FirstLane(x.low); }
  template <int kDistance>
  [[gnu::noinline]] static Register SwapLanes(R x) {
    if constexpr (kDistance == Half::kLanes) {
      return {x.high, x.low};
    } else {
      return {Half::template SwapLanes<kDistance>(x.low),
              Half::template SwapLanes<kDistance>(x.high)};
    }
  }
  [[gnu::noinline]] static Register Add(R a, R b) {
    return {Half::Add(a.low, b.low), Half::Add(a.high, b.high)};
  }
  [[gnu::noinline]] static Register Sub(R a, R b) {
    return {Half::Sub(a.low, b.low), Half::Sub(a.high, b.high)};
  }
  [[gnu::noinline]] static Register Mul(R a, R b) {
    return {Half::Mul(a.low, b.low), Half::Mul(a.high, b.high)};
  }
  [[gnu::noinline]] static Register Div(R a, R b) {
    return {Half::Div(a.low, b.low), Half::Div(a.high, b.high)};
  }
  [[gnu::noinline]] static Register MulAdd(R a, R b, R c) {
    return {Half::MulAdd(a.low, b.low, c.low), Half::MulAdd(a.high, b.high, c.high)};
  }
  [[gnu::noinline]] static void Accumulate(Register& acc, R a, R b) {
    Half::Accumulate(acc.low, a.low, b.low);
    Half::Accumulate(acc.high, a.high, b.high);
  }
  [[gnu::noinline]] static void AccumulateFrom(Register& acc, R a, const float* b) {
    Half::AccumulateFrom(acc.low, a.low, b);
    Half::AccumulateFrom(acc.high, a.high, b + Half::kLanes);
  }
  [[gnu::noinline]] static Register Max(R a, R b) {
    return {Half::Max(a.low, b.low), Half::Max(a.high, b.high)};
  }
  [[gnu::noinline]] static Register Min(R a, R b) {
    return {Half::Min(a.low, b.low), Half::Min(a.high, b.high)};
  }
  [[gnu::noinline]] static Register MaxOrNan(R a, R b) {
    return {Half::MaxOrNan(a.low, b.low), Half::MaxOrNan(a.high, b.high)};
  }
  [[gnu::noinline]] static Register Join(R a, R b, std::int64_t count) {
    return {Half::Join(a.low, b.low, count), Half::Join(a.high, b.high, count - Half::kLanes)};
  }
  [[gnu::noinline]] static Register Abs(R x) { return {Half::Abs(x.low), Half::Abs(x.high)}; }
  [[gnu::noinline]] static Register Sqrt(R x) { return {Half::Sqrt(x.low), Half::Sqrt(x.high)}; }
  [[gnu::noinline]] static Register Round(R x) { return {Half::Round(x.low), Half::Round(x.high)}; }
  [[gnu::noinline]] static Register RoundHalf(R x) {
    return {Half::RoundHalf(x.low), Half::RoundHalf(x.high)};
  }
  [[gnu::noinline]] static Register SelectLess(R a, R b, R x, R y) {
    return {Half::SelectLess(a.low, b.low, x.low, y.low),
            Half::SelectLess(a.high, b.high, x.high, y.high)};
  }
  [[gnu::noinline]] static Register PowerOfTwo(R shifted) {
    return {Half::PowerOfTwo(shifted.low), Half::PowerOfTwo(shifted.high)};
  }
};

}  // namespace poprt::kernels::testing
