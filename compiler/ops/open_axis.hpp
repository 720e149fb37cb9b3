#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compiler/ops/op.hpp"

/// Which operators may read values with an open axis: one whose extent depends on data, so that the
/// value's type says how long it may be and a count says how long it is.
namespace poprt::ops {

/// Stands in the attribute "shape" of Reshape and Expand for the extent along the open axis.
inline constexpr std::int64_t kOpenExtent = -1;

/// Where an open axis goes. The results' extent along it is the operands' true one, less `skipped`,
/// at most what their types say and at least 0.
struct CarriedAxis {
  std::size_t axis = 0;  ///< of every output
  std::int64_t skipped = 0;
};

/// For a call whose types fit: the open axis of its outputs, of these types, if those of its inputs
/// are `open`, one for each, all with the same count. Nothing for operators whose results within
/// the true extent would depend on what lies beyond it, or have no such extent.
std::optional<CarriedAxis> CarryOpenAxis(const InferenceCall& call,
                                         const std::vector<TensorType>& outputs,
                                         std::span<const std::optional<std::size_t>> open);

}  // namespace poprt::ops
