#pragma once

#include <span>

#include "runtime/kernels/quantized/quad_tiles.hpp"

namespace poprt::kernels {

/// Those that this processor can run, the portable ones first. Found once in a process.
std::span<const QuadTiles* const> SupportedQuadTiles();

/// The fastest of them within BestInstructionSet(), with the instructions for products of bytes
/// (VNNI) where the processor has them. Found once in a process.
const QuadTiles& BestQuadTiles();

}  // namespace poprt::kernels
