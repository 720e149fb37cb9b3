#pragma once

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

// What the vector types V of vector_type.hpp for AVX2 and AVX-512 have in common, written once on
// Highway, whose target is the set that a file is compiled for. In an unnamed namespace, so that
// every file that includes this has its own copy of the code.
namespace poprt::kernels {
namespace {  // NOLINT: on purpose, see above

namespace hn = hwy::HWY_NAMESPACE;

template <std::size_t kWidth>
struct HighwayVector {
  using Floats = hn::FixedTag<float, kWidth>;
  using Words = hn::FixedTag<std::int32_t, kWidth>;
  using HalfBits = hn::FixedTag<std::uint16_t, kWidth>;
  using Halves = hn::FixedTag<hwy::float16_t, kWidth>;
  using Vector = hn::Vec<Floats>;
  /// The compiler's own type and not Highway's around it, arrays of which g++ 12 keeps in memory.
  using Register = decltype(Vector::raw);
  static constexpr int kLanes = kWidth;

  static Register Zero() { return hn::Zero(Floats()).raw; }
  static Register Set(float x) { return hn::Set(Floats(), x).raw; }
  static Register Load(const float* p) { return hn::LoadU(Floats(), p).raw; }
  static Register Load(const std::uint16_t* p) {
    return hn::PromoteTo(Floats(), hn::BitCast(Halves(), hn::LoadU(HalfBits(), p))).raw;
  }
  template <class Use>
  static void EachScaled(const std::int32_t* line, Use use) {
    auto words = hn::LoadU(Words(), line);
    // As assembly because g++ otherwise loads the words once more for each use.
    asm("" : "+v"(words.raw));
    use(std::integral_constant<int, 0>(), hn::ConvertTo(Floats(), hn::ShiftLeft<16>(words)).raw);
    const auto upper = hn::And(words, hn::Set(Words(), ~0xFFFF));
    use(std::integral_constant<int, 1>(), hn::ConvertTo(Floats(), upper).raw);
  }
  static void Store(Register x, float* p) { hn::StoreU(Vector{x}, Floats(), p); }
  static void Store(Register x, std::uint16_t* p) {
    hn::StoreU(hn::BitCast(HalfBits(), hn::DemoteTo(Halves(), Vector{x})), HalfBits(), p);
  }
  static Register LoadFirst(const float* p, std::int64_t count) {
    return hn::MaskedLoad(First(count), Floats(), p).raw;
  }
  static Register KeepFirst(Register x, std::int64_t count) {
    const std::int64_t kept = count < 0 ? 0 : count > kLanes ? kLanes : count;
    return hn::IfThenElseZero(First(kept), Vector{x}).raw;
  }
  static Register Even(Register a, Register b) {
    return hn::ConcatEven(Floats(), Vector{b}, Vector{a}).raw;
  }
  static float FirstLane(Register x) { return hn::GetLane(Vector{x}); }
  template <int kDistance>
  static Register SwapLanes(Register x) {
    if constexpr (kDistance == 8) return hn::ConcatLowerUpper(Floats(), Vector{x}, Vector{x}).raw;
    if constexpr (kDistance == 4) return hn::SwapAdjacentBlocks(Vector{x}).raw;
    if constexpr (kDistance == 2) return hn::Shuffle1032(Vector{x}).raw;
    if constexpr (kDistance == 1) return hn::Shuffle2301(Vector{x}).raw;
  }
  static Register Add(Register a, Register b) { return (Vector{a} + Vector{b}).raw; }
  static Register Sub(Register a, Register b) { return (Vector{a} - Vector{b}).raw; }
  static Register Mul(Register a, Register b) { return (Vector{a} * Vector{b}).raw; }
  static Register Div(Register a, Register b) { return (Vector{a} / Vector{b}).raw; }
  static Register MulAdd(Register a, Register b, Register c) {
    return hn::MulAdd(Vector{a}, Vector{b}, Vector{c}).raw;
  }
  // As assembly because g++ 12 otherwise chooses other forms of the instruction, which need moves.
  static void Accumulate(Register& acc, Register a, Register b) {
    asm("vfmadd231ps %2, %1, %0" : "+v"(acc) : "v"(a), "v"(b));
  }
  static Register Max(Register a, Register b) { return hn::Max(Vector{a}, Vector{b}).raw; }
  static Register Min(Register a, Register b) { return hn::Min(Vector{a}, Vector{b}).raw; }
  static Register Abs(Register x) { return hn::Abs(Vector{x}).raw; }
  static Register Sqrt(Register x) { return hn::Sqrt(Vector{x}).raw; }
  static Register Round(Register x) { return hn::Round(Vector{x}).raw; }
  /// As float16 has it.
  static Register RoundHalf(Register x) {
    return hn::PromoteTo(Floats(), hn::DemoteTo(Halves(), Vector{x})).raw;
  }
  static Register SelectLess(Register a, Register b, Register x, Register y) {
    return hn::IfThenElse(Vector{a} < Vector{b}, Vector{x}, Vector{y}).raw;
  }
  /// 2^n for the n in the low bits of `shifted` = 1.5 * 2^23 + n.
  static Register PowerOfTwo(Register shifted) {
    const auto exponent = hn::ShiftLeft<23>(hn::BitCast(Words(), Vector{shifted}));
    return hn::BitCast(Floats(), exponent + hn::Set(Words(), 0x3F800000)).raw;
  }

 protected:
  static hn::Mask<Floats> First(std::int64_t count) {
    return hn::FirstN(Floats(), static_cast<std::size_t>(count));
  }
};

}  // namespace
}  // namespace poprt::kernels
