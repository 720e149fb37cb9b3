#pragma once

#include <cstdint>

#include "compiler/ipu/cost/elementwise_vertex.hpp"

namespace poprt::ipu {

/// A worker's loop: `cycles` for each `elements`, the last ones counting as full.
struct ElementwiseLoop {
  std::uint64_t cycles = 0;
  std::uint64_t elements = 1;
};

/// The loop of an operation with operands of that format (the table of section 2.7, loop overhead
/// included). Operations of floats on integers cost as those of float32 (they are cast), FP8 as
/// half, booleans and narrow integers as 32-bit integers where they have no loop of their own.
ElementwiseLoop FindElementwiseLoop(const Target& target, ElementwiseOp op, NumberFormat format,
                                    ElementwiseForm form, bool in_place);

}  // namespace poprt::ipu
