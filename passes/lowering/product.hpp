#pragma once

#include <optional>
#include <vector>

#include "passes/rewrite.hpp"

/// Products and sums as patterns look at them: in whichever order exporters wrote them.
namespace poprt::passes {

/// A value taken apart into its factors: constant * factors[0] * factors[1] * ...
struct Product {
  double constant = 1;               ///< scalar constants, multiplied
  std::vector<ir::ValueId> factors;  ///< the others, ascending; powers repeat a factor
};

/// Looks through Mul, Div by a scalar constant, and Pow with exponent 2 or 3, as long as nothing
/// else uses what is between.
Product ProductOf(Rewriter& rewriter, ir::ValueId id);

/// The same for the result of a node, whoever uses it.
Product ProductOf(Rewriter& rewriter, const ir::Node& node);

/// The other operand of an Add of the scalar 1 that only one node reads.
std::optional<ir::ValueId> AddedToOne(Rewriter& rewriter, ir::ValueId id);

/// The factor that is not `known`, of exactly two.
std::optional<ir::ValueId> OtherFactor(const Product& product, ir::ValueId known);

}  // namespace poprt::passes
