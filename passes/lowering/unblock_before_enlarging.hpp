#pragma once

#include "absl/status/status.h"
#include "passes/pass.hpp"

namespace poprt::passes {

/// An image that is enlarged in blocks of channels, and then only made planes, or pixels of few
/// channels, is made planes first.
///
/// before: UnblockChannels(Resize(x))
/// after:  Resize(UnblockChannels(x))
absl::Status UnblockBeforeEnlarging(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
