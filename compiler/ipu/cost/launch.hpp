#pragma once

#include <cstdint>

#include "compiler/ipu/target/target.hpp"

/// What a compute set costs beyond the formulas of its vertices (sections 1.2 and 7.1.2). All other
/// functions of compiler/ipu/cost that end in VertexCycles leave it out.
namespace poprt::ipu {

enum class ComputeSetKind : std::uint8_t {
  kAmp,    ///< products on the AMP units: their formulas include nearly all of it
  kOther,  ///< element-wise, reductions and so on
};

/// Constant cycles of launching a compute set on a tile.
std::uint64_t LaunchCycles(const Target& target, ComputeSetKind kind);

/// Cycles of a compute set on a tile whose vertices take `vertex_cycles`.
std::uint64_t ComputeSetCycles(const Target& target, ComputeSetKind kind,
                               std::uint64_t vertex_cycles);

/// Cycles that each iteration of a Repeat adds on a tile: counting (section 2.7).
inline constexpr std::uint64_t kRepeatIterationCycles = 43;

}  // namespace poprt::ipu
