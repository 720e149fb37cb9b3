#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// An order of axes that is taken back behind element-wise operators, quantisation of whole
/// tensors, Concat or Pad is never made: TensorFlow's models have channels last between
/// convolutions that have them first.
///
/// before: Transpose(Clip(Add(Transpose(x) perm=[0, 2, 3, 1], b: [C]))) perm=[0, 3, 1, 2]
/// after:  Clip(Add(x, b: [1, C, 1, 1]))
///
/// All other operands have been put into that order, too, or are constants along one axis. What
/// else reads the values between still finds them.
absl::Status CancelTranspose(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
