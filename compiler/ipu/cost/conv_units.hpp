#pragma once

#include <cstdint>

#include "compiler/ipu/cost/number_format.hpp"
#include "compiler/ipu/target/target.hpp"

/// The multiply-accumulate units (AMP) that products run on (sections 1.1 and 1.2).
namespace poprt::ipu {

/// Number formats of a product. FP8 inputs always have half partials (section 2.2), FP32 inputs
/// always float ones.
struct ProductFormat {
  NumberFormat input = NumberFormat::kFloat16;  ///< kFloat32, kFloat16 or kFloat8
  bool half_partials = true;

  bool has_float_partials() const {
    return input == NumberFormat::kFloat32 || (input == NumberFormat::kFloat16 && !half_partials);
  }
  NumberFormat partials() const {
    return has_float_partials() ? NumberFormat::kFloat32 : NumberFormat::kFloat16;
  }
};

/// Units at work, as section 1.2 counts them; 0 when the architecture can't multiply that format.
std::uint64_t ConvUnits(const Target& target, ProductFormat format);

/// Input channels that an AMP vertex takes at once: 16 half, 8 float, 32 quarter; 0 when there are
/// no units for the format.
std::uint64_t ConvInputGroup(const Target& target, ProductFormat format);

/// Output channels that an AMP vertex computes at once, the units U of section 2: 16, or 8 when
/// half inputs have float partials; 0 when there are no units for the format. Float inputs: a
/// vertex takes 8 cycles for the 8 input channels of a position, so that it is all 16 that reach
/// the peak, which section 1.2 counts as 8 units of 2 multiply-accumulates.
std::uint64_t ConvOutputGroup(const Target& target, ProductFormat format);

/// Multiply-accumulates of one tile in a cycle, at the peak: 64 for half with half partials.
std::uint64_t PeakMacsPerCycle(const Target& target, ProductFormat format);

/// Cycles to load the weights of all units once (section 2.1: L = 64, or 32 with 128-bit loads).
std::uint64_t CoefficientLoadCycles(const Target& target, ProductFormat format, bool load_128bit);

}  // namespace poprt::ipu
