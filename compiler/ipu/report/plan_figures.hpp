#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ipu/plan/plan.hpp"

/// Sums over a plan that all reports show.
namespace poprt::ipu {

inline constexpr std::size_t kPhases = 7;

/// As the reports name it: "compute", "host load".
std::string_view PhaseName(Phase phase);

/// As report.json names it: "variables_always_live".
std::string_view MemoryCategoryName(MemoryCategory category);

/// As report.json names it: "activation".
std::string_view TensorKindName(TensorKind kind);

/// Whether transfers of other batches run beside computing: with I/O tiles and enough batches a
/// step (section 5.1).
bool OverlapsTransfers(const Plan& plan);

/// What all steps of one phase of a graph take.
struct PhaseFigures {
  std::uint64_t steps = 0;
  std::uint64_t cycles = 0;       ///< of the slowest tiles, repeats included
  std::uint64_t tile_cycles = 0;  ///< over all tiles, repeats included
  std::uint64_t bytes = 0;        ///< received or copied over all tiles, repeats included
};

/// Indexed by Phase.
std::array<PhaseFigures, kPhases> PhasesOf(const GraphPlan& graph);

std::uint64_t Flops(const GraphPlan& graph);

/// All vertices of one codelet.
struct VertexType {
  std::string name;
  std::uint64_t instances = 0;    ///< over all tiles; operators that are outlined share them
  std::uint64_t cycles = 0;       ///< over all tiles and runs
  std::uint64_t state_bytes = 0;  ///< over all tiles
};

/// Of all graphs, those with most cycles first.
std::vector<VertexType> VertexTypesOf(const std::vector<GraphPlan>& graphs);

/// Size of the program; what is shared, code, weights and memory of tensors, is counted once.
struct Counts {
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;
  std::uint64_t variables = 0;
  std::uint64_t compute_sets = 0;
};

Counts CountsOf(const std::vector<GraphPlan>& graphs);

/// Sums over tiles.
struct MemoryTotals {
  std::array<std::uint64_t, kMemoryCategories> categories = {};
  std::uint64_t bytes = 0;
  std::uint64_t gap_bytes = 0;  ///< not in `bytes`
  std::uint32_t fullest_tile = 0;
  std::uint64_t fullest_tile_bytes = 0;
};

MemoryTotals MemoryTotalsOf(const MemoryPlan& memory);

/// Bytes by where they lie (section 1.3), when a tile is filled from its lowest address.
struct MemoryRegions {
  std::uint64_t non_interleaved = 0;
  std::uint64_t interleaved = 0;
  std::uint64_t overflowed = 0;  ///< beyond the end of the memory

  void Add(const MemoryRegions& other);
};

MemoryRegions RegionsOf(const TileMemory& tile, const Target& target);

}  // namespace poprt::ipu
