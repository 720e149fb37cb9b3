#pragma once

#include <optional>
#include <vector>

#include "passes/rewrite.hpp"

namespace poprt::passes {

/// A value seen as elements of another one, at strides: what Transpose, Reshape, Slice and their
/// like do, without doing it.
struct StridedView {
  ir::ValueId source = ir::kAbsent;
  Shape shape;                        ///< of the value that is seen
  std::vector<std::int64_t> strides;  ///< in elements of the source
  std::int64_t offset = 0;
  double factor = 1;  ///< the elements are those of the source times this
};

/// The value as it is, contiguous.
StridedView WholeView(const ir::Graph& graph, ir::ValueId id);

/// The strides of a tensor of that shape, and as many elements, that holds the elements of `view`
/// in their order; nothing where they would have to be moved. Those of axes of 1 are 0.
std::optional<std::vector<std::int64_t>> StridesAs(const StridedView& view, const Shape& shape);

/// The value `id` seen through as many of these as possible: Transpose, Reshape, Flatten, Squeeze,
/// Unsqueeze, Identity, Split, Slice with steps of 1, Gather of one constant index and, where
/// `scaled` is allowed, Mul and Div by a constant scalar.
StridedView ViewThrough(Rewriter& rewriter, ir::ValueId id, bool scaled);

}  // namespace poprt::passes
