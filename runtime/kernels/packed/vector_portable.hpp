#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "runtime/tensor/half.hpp"

// The vector type V of vector_type.hpp for any processor. In an unnamed namespace, so that
// every file that includes this has its own copy of the code.
namespace poprt::kernels {
namespace {  // NOLINT: on purpose, see above

/// Eight floats without any instruction of a particular processor: the compiler makes registers of
/// whatever size there is of them.
struct Portable {
  static constexpr int kLanes = 8;
  static constexpr int kPanels = 1;
  static constexpr int kRows = 6;
  using Eight = Portable;
  struct Register {
    [[gnu::vector_size(8 * sizeof(float))]] float lane;
  };

  template <typename F>
  static Register Each(F value_of) {
    Register result;
    for (int i = 0; i < 8; ++i) result.lane[i] = value_of(i);
    return result;
  }

  static Register Zero() { return Set(0.0F); }
  static Register Set(float x) { return {x - decltype(Register::lane){}}; }
  template <int kUses>
  static Register Repeat(const float* p) {
    return Set(*p);
  }
  static Register Load(const float* p) {
    Register result;
    std::memcpy(&result.lane, p, sizeof(result.lane));
    return result;
  }
  // Neither this nor its inverse is inlined into every kernel, which would take a third of the time
  // to compile these.
  [[gnu::noinline]] static Register Load(const std::uint16_t* p) {
    return Each([p](int i) { return static_cast<float>(Float16::FromBits(p[i])); });
  }
  template <class Use>
  static void EachScaled(const std::int32_t* line, Use use) {
    const auto upper = [line](int shift) {
      return Each([=](int i) {
        const auto word = std::bit_cast<std::uint32_t>(line[i]);
        return static_cast<float>(std::bit_cast<std::int32_t>(word << shift & ~0xFFFFU));
      });
    };
    use(std::integral_constant<int, 0>(), upper(16));
    use(std::integral_constant<int, 1>(), upper(0));
  }
  static void Store(const Register& x, float* p) { std::memcpy(p, &x.lane, sizeof(x.lane)); }
  [[gnu::noinline]] static void Store(const Register& x, std::uint16_t* p) {
    for (int i = 0; i < 8; ++i) p[i] = Float16(x.lane[i]).bits;
  }
  static Register LoadFirst(const float* p, std::int64_t count) {
    return Each([p, count](int i) { return i < count ? p[i] : 0.0F; });
  }
  static void StoreFirst(const Register& x, float* p, std::int64_t count) {
    for (int i = 0; i < count; ++i) p[i] = x.lane[i];
  }
  static Register KeepFirst(const Register& x, std::int64_t count) {
    return Each([&x, count](int i) { return i < count ? x.lane[i] : 0.0F; });
  }
  static Register Even(const Register& a, const Register& b) {
    return Each([&a, &b](int i) { return i < 4 ? a.lane[2 * i] : b.lane[2 * i - 8]; });
  }
  static void Transpose(Register (&x)[8]) {
    for (int i = 0; i < 8; ++i) {
      for (int k = 0; k < i; ++k) {
        const float below = x[i].lane[k];
        x[i].lane[k] = x[k].lane[i];
        x[k].lane[i] = below;
      }
    }
  }
  static float FirstLane(const Register& x) { return x.lane[0]; }
  template <int kDistance>
  static Register SwapLanes(const Register& x) {
    return Each([&x](int i) { return x.lane[i ^ kDistance]; });
  }
  static Register Add(const Register& a, const Register& b) { return {a.lane + b.lane}; }
  static Register Sub(const Register& a, const Register& b) { return {a.lane - b.lane}; }
  static Register Mul(const Register& a, const Register& b) { return {a.lane * b.lane}; }
  static Register Div(const Register& a, const Register& b) { return {a.lane / b.lane}; }
  static Register MulAdd(const Register& a, const Register& b, const Register& c) {
    return {a.lane * b.lane + c.lane};
  }
  static void Accumulate(Register& acc, const Register& a, const Register& b) {
    acc.lane += a.lane * b.lane;
  }
  static Register Max(const Register& a, const Register& b) {
    return {a.lane > b.lane ? a.lane : b.lane};
  }
  static Register Min(const Register& a, const Register& b) {
    return {a.lane < b.lane ? a.lane : b.lane};
  }
  static Register Abs(const Register& x) {
    return Each([&x](int i) { return __builtin_fabsf(x.lane[i]); });
  }
  static Register Sqrt(const Register& x) {
    return Each([&](int i) { return std::sqrt(x.lane[i]); });
  }
  static Register Round(const Register& x) {
    return Each([&](int i) { return std::nearbyint(x.lane[i]); });
  }
  /// As float16 has it.
  static Register RoundHalf(const Register& x) {
    return Each([&](int i) { return static_cast<float>(Float16(x.lane[i])); });
  }
  static Register SelectLess(const Register& a, const Register& b, const Register& x,
                             const Register& y) {
    return {a.lane < b.lane ? x.lane : y.lane};
  }
  /// 2^n for the n in the low bits of `shifted` = 1.5 * 2^23 + n.
  static Register PowerOfTwo(const Register& shifted) {
    return Each([&shifted](int i) {
      return std::bit_cast<float>((std::bit_cast<std::uint32_t>(shifted.lane[i]) << 23) +
                                  0x3F800000U);
    });
  }
};

}  // namespace
}  // namespace poprt::kernels
