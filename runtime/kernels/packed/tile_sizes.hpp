#pragma once

#include <cstdint>

/// Sizes of register tiles, in BLIS's terms MR and NR. Weights in containers are packed by them.
/// This header is included by files that are compiled for more than the baseline processor: it must
/// stay free of functions.
namespace poprt::kernels {

/// Rows of the register tiles that work is cut by, which every processor has registers for.
inline constexpr std::int64_t kTileRows = 6;
/// Rows of the largest register tile of any processor, see GemmMicroKernels::rows.
inline constexpr std::int64_t kMostTileRows = 8;
/// Rows of a scaled panel that share scales, see scaled_panels.hpp.
inline constexpr std::int64_t kScaledBlock = 64;
/// Rows that are multiplied by scaled panels as they come, at most; for more these are widened
/// first, or split for a matrix unit.
inline constexpr std::int64_t kMostScaledRows = 4;
/// Columns of a panel and of its part of a register tile; channels of a block.
inline constexpr std::int64_t kPanel = 16;
/// Panels of the largest register tile, see GemmMicroKernels::panels.
inline constexpr std::int64_t kTilePanels = 2;
/// Panels that up to kTileRows rows, if they are all there are, pass over in one call.
inline constexpr std::int64_t kMostTilePanels = 4;

}  // namespace poprt::kernels
