#pragma once

#include "absl/status/status.h"
#include "passes/pass.hpp"

namespace poprt::passes {

/// A Conv of single pixels and an interpolation, whose weights add up to one, may come in either
/// order; where an image is enlarged first, and the Conv does not make more channels of it, it
/// comes after the Conv, which then has fewer pixels. As the heads of segmentation networks have
/// it, also of some of the channels that a Conv reads. An image of one pixel that is repeated, as
/// networks for clouds of points tell every point of all others, is repeated by the sum.
///
/// before: Conv(Concat(Resize(x), y, Expand(z)), [v w u], b)
/// after:  Add(Add(Resize(Conv(x, v, b)), Conv(y, w)), Conv(z, u))
///
/// Sums are rounded in another order.
absl::Status EnlargeAfterPointwise(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
