#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ipu/memory/tile_space.hpp"
#include "compiler/ipu/plan/plan.hpp"

namespace poprt::ipu {

/// What is on every tile as long as the program is loaded, one number for each.
struct ProgramBytes {
  std::vector<std::uint64_t> constants;
  std::vector<std::uint64_t> variables;
  std::vector<std::uint64_t> vertex_code;
  std::vector<std::uint64_t> vertex_state;
  std::vector<std::uint64_t> internal_exchange_code;
  std::vector<std::uint64_t> host_exchange_code;
  std::vector<std::uint64_t> control_code;
};

/// Bytes that every program has on every tile, however small (section 3.5, "Tiny program").
inline constexpr std::uint64_t kStackBytes = 3168;
inline constexpr std::uint64_t kFixedControlCodeBytes = 700;
inline constexpr std::uint64_t kFixedHostExchangeCodeBytes = 289 + 9;  ///< with packet headers
inline constexpr std::uint64_t kFixedVertexCodeBytes = 140;
inline constexpr std::uint64_t kFixedInternalExchangeCodeBytes = 50;

/// Of a program made of these graphs. Equal weights are there once, where the first of the graphs
/// has them; a codelet is there once on every tile that runs it. The code of equal exchanges is
/// there once in a graph (section 3.5 sums "unique exchanges"): activations of one layer lie where
/// those of the one before it lay. Exchanges of weights are never equal. Operators that call the
/// code of another one (OperatorPlan::outlined) on the same IPU have none of their own but for the
/// copies of their arguments.
ProgramBytes FindProgramBytes(const std::vector<const GraphPlan*>& graphs, const TileSpace& space);

}  // namespace poprt::ipu
