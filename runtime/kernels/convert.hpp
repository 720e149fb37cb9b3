#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/tensor/element_type.hpp"
#include "runtime/tensor/narrow_float.hpp"

namespace poprt::kernels {

/// Converts n contiguous elements.
using ConvertLoop = void (*)(const std::byte* from, std::byte* to, std::int64_t n);

/// How values that a narrow float lacks are converted to it. No other conversion depends on it.
struct ConvertMode {
  Overflow overflow = Overflow::kSaturate;
  PowerRounding rounding = PowerRounding::kUp;  ///< to float8e8m0
};

/// Conversion between two element types, as ONNX Cast defines it and, where it leaves the result
/// open, as x86 processors and NumPy behave:
/// * to a float type: to nearest even, rounded once, overflowing to infinity;
/// * float to int8, uint8, int16, uint16, int32: truncated to int32, or to -2^31 when that can't
/// hold
///   it (NaN included), then the low bits;
/// * float to int64, uint32: truncated to int64, or to -2^63, then the low bits; to uint64
/// likewise,
///   except that [2^63, 2^64) is exact;
/// * between integers: the low bits, extended by the sign of the source;
/// * to an integer of 4 or 2 bits: as to int8, then the low bits;
/// * to a float of 8 or 4 bits: rounded once, out of range as the mode says (narrow_float.hpp);
/// * to bool: whether it is not zero (NaN is not); from bool: 0 or 1.
class Converter {
 public:
  /// Copies nothing and must not be called.
  Converter() = default;
  /// For equal types a copy. Both types must be defined.
  Converter(ElementType from, ElementType to, const ConvertMode& mode = {});

  /// `from` and `to` do not overlap. Allocates nothing.
  void operator()(const std::byte* from, std::byte* to, std::int64_t n) const;

  std::size_t from_bytes() const { return from_bytes_; }
  std::size_t to_bytes() const { return to_bytes_; }
  bool is_copy() const { return is_copy_; }

 private:
  ConvertLoop widen_ = nullptr;   // to an intermediate type that holds every value; may be absent
  ConvertLoop narrow_ = nullptr;  // from there
  std::size_t from_bytes_ = 0;
  std::size_t to_bytes_ = 0;
  bool is_copy_ = false;
};

}  // namespace poprt::kernels
