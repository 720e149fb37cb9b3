#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compiler/ops/op.hpp"

namespace poprt::ops {

/// What the elements of an operand beyond its true extent become; kLowest and kHighest are
/// infinite for floats.
enum class Fill : std::uint8_t { kAny, kZero, kOne, kLowest, kHighest };

/// What lets a call fold over all of an open axis and give what it gives within the true extent.
struct FilledAxis {
  std::vector<Fill> fills;  ///< for each input
  /// The open axis of the outputs, as long as those of the inputs; none if their types say all, or
  /// OpDef::open does.
  std::optional<std::size_t> axis;
};

/// For a call whose types fit and that CarryOpenAxis refuses; `open` as there. Nothing for
/// operators that have no such form. TopK with a known k expects that so many are there.
std::optional<FilledAxis> FillOpenAxis(const InferenceCall& call,
                                       std::span<const std::optional<std::size_t>> open);

}  // namespace poprt::ops
