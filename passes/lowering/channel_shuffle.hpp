#pragma once

#include <optional>

#include "passes/rewrite.hpp"

namespace poprt::passes {

/// A shuffle of the channels of an image as exporters write it, as Reshape to `groups` groups of
/// channels, Transpose of the two axes, Reshape.
struct ChannelShuffle {
  ir::ValueId x = ir::kAbsent;
  std::int64_t groups = 0;
  std::int64_t channels = 0;

  /// Channel c of the result is channel Order()[c] of x.
  Ints Order() const;
};

/// The shuffle that defines the value, an image; nothing if it is none.
std::optional<ChannelShuffle> ChannelShuffleOf(Rewriter& rewriter, ir::ValueId id);

}  // namespace poprt::passes
