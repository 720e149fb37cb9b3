#pragma once

#include <string>
#include <string_view>

#include "compiler/ipu/cost/elementwise_vertex.hpp"
#include "compiler/ipu/plan/step_builder.hpp"

/// Element-wise compute sets (section 2.7). Results lie where one of the operands lies (section 6);
/// the others are brought there.
namespace poprt::ipu {

/// Where an element-wise result of that shape lies: where the first operand is that it may replace
/// (PopART works in place where it can), else where popops would put it.
Layout ElementwiseLayout(StepBuilder& steps, const std::vector<Placed>& operands,
                         const TensorType& result);

/// One operand. Works in place where it may be overwritten and has the result's size.
Placed AddUnary(StepBuilder& steps, const std::string& name, ElementwiseOp op, const Placed& x,
                const TensorType& result);

/// Two operands, of which one may be broadcast to the other, or both to the result.
Placed AddBinary(StepBuilder& steps, const std::string& name, ElementwiseOp op, const Placed& a,
                 const Placed& b, const TensorType& result);

/// The second operand is a number of the program.
Placed AddScalar(StepBuilder& steps, const std::string& name, ElementwiseOp op, const Placed& x,
                 const TensorType& result);

/// Three operands: select, clamp.
Placed AddTernary(StepBuilder& steps, const std::string& name, ElementwiseOp op,
                  const std::vector<Placed>& operands, const TensorType& result);

/// To another element type; nothing to do where the tiles use the same format for both.
Placed AddCast(StepBuilder& steps, const Placed& x, ElementType to);

/// Every element gets one value.
Placed AddFill(StepBuilder& steps, const std::string& name, const TensorType& result);

}  // namespace poprt::ipu
