#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// RNN, GRU and LSTM read and write rows of inputs and of hidden units wherever these lie: a
/// Transpose of X, or of Y, if nothing else reads that, becomes the attribute x_perm or y_perm, as
/// long as the last axis stays. Exporters write the latter behind every bidirectional operator, and
/// both where the batch comes first.
///
/// before: Transpose(LSTM(x, w, r)) perm=[0, 2, 1, 3]
/// after: LSTM(x, w, r) y_perm=[0, 2, 1, 3]
absl::Status FuseTransposeIntoRecurrent(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
