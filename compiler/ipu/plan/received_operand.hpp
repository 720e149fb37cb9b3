#pragma once

#include <cstdint>

#include "compiler/ipu/plan/layout.hpp"
#include "compiler/ipu/plan/product_planner.hpp"

namespace poprt::ipu {

/// An operand of a planned product as each of its tiles receives it in a serial step.
struct ReceivedOperand {
  std::uint64_t bytes = 0;
  std::uint64_t pieces = 0;  ///< in which they come
  std::uint64_t users = 1;   ///< tiles that need the same
  bool spread = true;        ///< over these tiles, in equal pieces
  bool constant = false;
};

/// What the plan multiplies as inputs, which is the second operand when they are swapped. `local`:
/// it lies where the plan has it, so that a part of what a tile needs is there.
ReceivedOperand ReceivedInput(const ProductPlan& plan, const Placed& operand, bool local);

/// What the plan multiplies by.
ReceivedOperand ReceivedWeights(const ProductPlan& plan, const Placed& operand, bool local);

}  // namespace poprt::ipu
