#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "compiler/ops/op.hpp"

namespace poprt::ops {

/// A call and the open axes of its inputs.
struct OpenCall {
  using Axis = std::optional<std::size_t>;

  const InferenceCall& call;
  std::span<const Axis> open;

  const Attributes& attributes() const { return call.attributes; }
  const Shape& shape(std::size_t input) const { return call.input(input).shape; }
  std::size_t rank(std::size_t input) const { return shape(input).size(); }
  Axis axis(std::size_t input) const { return input < open.size() ? open[input] : std::nullopt; }

  /// Whether exactly the first `count` inputs are open.
  bool AreOpen(std::size_t count) const {
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (open[i].has_value() != (i < count)) return false;
    }
    return open.size() >= count;
  }

  /// The open axis of that input if no other has one.
  Axis OnlyAxis(std::size_t input) const {
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (i != input && open[i]) return std::nullopt;
    }
    return axis(input);
  }
};

}  // namespace poprt::ops
