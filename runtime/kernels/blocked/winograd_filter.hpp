#pragma once

#include <cstdint>
#include <optional>

#include "runtime/tensor/attributes.hpp"

/// How filters are computed by Winograd's minimal filtering F(m, 3), which packing and kernels
/// share.
namespace poprt::kernels {

/// One axis of a filter. Three taps and more are cut into parts of three, the last one filled up
/// with zeros; the outputs of a part are found `tile` at a time. Of fewer taps each is a part, and
/// is multiplied as it is. What the parts contribute is summed as what input channels contribute.
struct WinogradAxis {
  std::int64_t tile;   ///< outputs, 1 where there is no transform
  std::int64_t side;   ///< inputs of a tile and of one part: tile + 2, or 1
  std::int64_t taps;   ///< of a part: 3, or 1
  std::int64_t parts;  ///< of the filter
};

struct WinogradFilter {
  WinogradAxis rows;
  WinogradAxis columns;

  std::int64_t elements() const { return rows.side * columns.side; }
  std::int64_t parts() const { return rows.parts * columns.parts; }
};

/// For filters of extents `kernel`, 1 to 256, of which one at least is 3 or more; `tile` is 4, or 2
/// where both are. Nothing for anything else.
std::optional<WinogradFilter> WinogradFilterOf(const Ints& kernel, std::int64_t tile);

/// The same; throws KernelError where there is none.
WinogradFilter RequireWinogradFilter(const Ints& kernel, std::int64_t tile);

}  // namespace poprt::kernels
