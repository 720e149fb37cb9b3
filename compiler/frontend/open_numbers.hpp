#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/frontend/open_extents.hpp"
#include "compiler/ir/graph.hpp"

namespace poprt::frontend {

/// An integer that is known, or the count of an open axis, which may have a limit.
struct OpenNumber {
  std::int64_t value = 0;           ///< of a count: it counts as no more than this
  ir::ValueId count = ir::kAbsent;  ///< absent if the number is known
};

/// The elements of a value of at most one axis which is put together from known numbers and counts,
/// as shapes are that a model takes from values with open axes. Nothing if an element is something
/// else.
std::optional<std::vector<OpenNumber>> OpenNumbersOf(const ir::Graph& graph,
                                                     const OpenExtents& extents, ir::ValueId value);

}  // namespace poprt::frontend
