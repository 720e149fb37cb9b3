#pragma once

#include <cstdint>
#include <utility>

namespace poprt::kernels::tile {

/// kCount vectors V that are computed with side by side, themselves a vector type as far as
/// activations_impl.hpp needs one. A function of one vector is a chain of instructions that wait
/// for each other; the chains of a group take turns, further than a processor looks ahead. A group
/// lives in registers only where all of this and what uses it becomes one function.
template <class V, int kCount>
struct VectorGroup {
  static constexpr int kLanes = kCount * V::kLanes;
  struct Register {
    typename V::Register part[kCount];
  };

  [[gnu::always_inline]] static Register Zero() { return Set(0.0F); }
  [[gnu::always_inline]] static Register Set(float x) {
    return Each([x](int) { return V::Set(x); });
  }
  /// The vectors lie `step` floats apart.
  [[gnu::always_inline]] static Register Load(const float* p, std::int64_t step = V::kLanes) {
    return Each([=](int i) __attribute__((always_inline)) { return V::Load(p + i * step); });
  }
  [[gnu::always_inline]] static void Store(const Register& x, float* p,
                                           std::int64_t step = V::kLanes) {
    for (int i = 0; i < kCount; ++i) V::Store(x.part[i], p + i * step);
  }
  [[gnu::always_inline]] static Register Add(const Register& a, const Register& b) {
    return Each([&](int i) __attribute__((always_inline)) { return V::Add(a.part[i], b.part[i]); });
  }
  [[gnu::always_inline]] static Register Sub(const Register& a, const Register& b) {
    return Each([&](int i) __attribute__((always_inline)) { return V::Sub(a.part[i], b.part[i]); });
  }
  [[gnu::always_inline]] static Register Mul(const Register& a, const Register& b) {
    return Each([&](int i) __attribute__((always_inline)) { return V::Mul(a.part[i], b.part[i]); });
  }
  [[gnu::always_inline]] static Register Div(const Register& a, const Register& b) {
    return Each([&](int i) __attribute__((always_inline)) { return V::Div(a.part[i], b.part[i]); });
  }
  [[gnu::always_inline]] static Register MulAdd(const Register& a, const Register& b,
                                                const Register& c) {
    return Each([&](int i) __attribute__((always_inline)) {
      return V::MulAdd(a.part[i], b.part[i], c.part[i]);
    });
  }
  [[gnu::always_inline]] static Register Max(const Register& a, const Register& b) {
    return Each([&](int i) __attribute__((always_inline)) { return V::Max(a.part[i], b.part[i]); });
  }
  [[gnu::always_inline]] static Register Min(const Register& a, const Register& b) {
    return Each([&](int i) __attribute__((always_inline)) { return V::Min(a.part[i], b.part[i]); });
  }
  [[gnu::always_inline]] static Register Abs(const Register& x) {
    return Each([&](int i) __attribute__((always_inline)) { return V::Abs(x.part[i]); });
  }
  [[gnu::always_inline]] static Register Sqrt(const Register& x) {
    return Each([&](int i) __attribute__((always_inline)) { return V::Sqrt(x.part[i]); });
  }
  [[gnu::always_inline]] static Register Round(const Register& x) {
    return Each([&](int i) __attribute__((always_inline)) { return V::Round(x.part[i]); });
  }
  [[gnu::always_inline]] static Register RoundHalf(const Register& x) {
    return Each([&](int i) __attribute__((always_inline)) { return V::RoundHalf(x.part[i]); });
  }
  [[gnu::always_inline]] static Register SelectLess(const Register& a, const Register& b,
                                                    const Register& x, const Register& y) {
    return Each([&](int i) __attribute__((always_inline)) {
      return V::SelectLess(a.part[i], b.part[i], x.part[i], y.part[i]);
    });
  }
  [[gnu::always_inline]] static Register Scale(const Register& x,
                                               const Register& n) requires requires {
    V::Scale(x.part[0], n.part[0]);
  }
  {
    return Each([&](int i)
                    __attribute__((always_inline)) { return V::Scale(x.part[i], n.part[i]); });
  }
  [[gnu::always_inline]] static Register PowerOfTwo(const Register& shifted) {
    return Each([&](int i)
                    __attribute__((always_inline)) { return V::PowerOfTwo(shifted.part[i]); });
  }

 private:
  template <class F>
  [[gnu::always_inline]] static Register Each(F value_of) {
    return Each(value_of, std::make_integer_sequence<int, kCount>());
  }
  template <class F, int... kParts>
  [[gnu::always_inline]] static Register Each(F value_of, std::integer_sequence<int, kParts...>) {
    return {{value_of(kParts)...}};
  }
};

}  // namespace poprt::kernels::tile
