#include "compiler/ipu/memory/plan_memory.hpp"

#include <algorithm>
#include <numeric>
#include <span>

#include "compiler/ipu/memory/liveness.hpp"
#include "compiler/ipu/memory/program_bytes.hpp"

namespace poprt::ipu {
namespace {

/// What the fullest tile of real programs has of the mean at least: 1.05 to 1.11 (section 3.5).
constexpr std::uint64_t kLeastImbalancePercent = 105;

std::uint64_t& Bytes(TileMemory& tile, MemoryCategory category) {
  return tile.bytes[static_cast<std::size_t>(category)];
}

/// Tiles of a program made of some of the graphs.
std::vector<TileMemory> TilesWith(const std::vector<GraphPlan>& graphs,
                                  const std::vector<GraphLiveness>& liveness,
                                  std::span<const std::uint32_t> selected, const TileSpace& space) {
  std::vector<const GraphPlan*> plans;
  for (const std::uint32_t g : selected) plans.push_back(&graphs[g]);
  const ProgramBytes program = FindProgramBytes(plans, space);
  std::vector<TileMemory> tiles(space.size());
  for (std::size_t t = 0; t < tiles.size(); ++t) {
    TileMemory& tile = tiles[t];
    Bytes(tile, MemoryCategory::kVariablesAlwaysLive) = program.variables[t];
    Bytes(tile, MemoryCategory::kConstants) = program.constants[t];
    Bytes(tile, MemoryCategory::kVertexCode) = program.vertex_code[t];
    Bytes(tile, MemoryCategory::kVertexState) = program.vertex_state[t];
    Bytes(tile, MemoryCategory::kInternalExchangeCode) = program.internal_exchange_code[t];
    Bytes(tile, MemoryCategory::kHostExchangeCode) = program.host_exchange_code[t];
    Bytes(tile, MemoryCategory::kControlCode) = program.control_code[t];
    Bytes(tile, MemoryCategory::kStack) = kStackBytes;
    std::uint64_t& activations = Bytes(tile, MemoryCategory::kVariablesNotAlwaysLive);
    for (const std::uint32_t g : selected) {
      if (liveness[g].peak[t] <= activations) continue;
      activations = liveness[g].peak[t];
      tile.peak_graph = g;
      tile.peak_operator = liveness[g].peak_operator[t];
    }
  }
  return tiles;
}

/// Gives the compute tiles of every IPU the gaps that bring the fullest of them to
/// kLeastImbalancePercent of their mean.
void AddGaps(const TileSpace& space, std::vector<TileMemory>& tiles) {
  for (std::uint32_t ipu = 0; ipu < space.ipus; ++ipu) {
    const std::span<TileMemory> compute =
        std::span(tiles)
            .subspan(std::size_t{ipu} * space.tiles_per_ipu, space.tiles_per_ipu)
            .subspan(space.io_tiles);
    std::uint64_t sum = 0;
    std::uint64_t fullest = 0;
    for (const TileMemory& tile : compute) {
      sum += tile.total();
      fullest = std::max(fullest, tile.total());
    }
    if (compute.empty()) continue;
    const std::uint64_t expected = sum / compute.size() * kLeastImbalancePercent / 100;
    if (expected <= fullest) continue;
    for (TileMemory& tile : compute) tile.gap_bytes = expected - fullest;
  }
}

/// Bytes over all tiles, by what graphs share.
struct SharedKinds {
  std::uint64_t weights = 0;
  std::uint64_t activations = 0;
  std::uint64_t code = 0;  ///< and what belongs to it: state, stack

  std::uint64_t total() const { return weights + activations + code; }
};

SharedKinds SumOf(const std::vector<TileMemory>& tiles) {
  SharedKinds sum;
  for (const TileMemory& tile : tiles) {
    const std::uint64_t weights = BytesOf(tile, MemoryCategory::kVariablesAlwaysLive) +
                                  BytesOf(tile, MemoryCategory::kConstants);
    const std::uint64_t activations = BytesOf(tile, MemoryCategory::kVariablesNotAlwaysLive);
    sum.weights += weights;
    sum.activations += activations;
    sum.code += tile.total() - weights - activations;
  }
  return sum;
}

/// What the graphs need alone and what they save together.
void CompareWithGraphsAlone(const std::vector<GraphPlan>& graphs,
                            const std::vector<GraphLiveness>& liveness, const TileSpace& space,
                            MemoryPlan& memory) {
  const SharedKinds together = SumOf(memory.tiles);
  SharedKinds apart;
  for (std::uint32_t g = 0; g < graphs.size(); ++g) {
    const SharedKinds alone =
        graphs.size() == 1 ? together : SumOf(TilesWith(graphs, liveness, {&g, 1}, space));
    memory.graph_bytes.push_back(alone.total());
    apart.weights += alone.weights;
    apart.activations += alone.activations;
    apart.code += alone.code;
  }
  if (graphs.empty()) return;
  memory.shared_weight_bytes = apart.weights - together.weights;
  memory.shared_activation_bytes = apart.activations - together.activations;
  memory.shared_code_bytes = apart.code - together.code;
}

std::vector<std::uint32_t> OverflowingTiles(const std::vector<TileMemory>& tiles,
                                            const Target& target) {
  std::vector<std::uint32_t> overflowing;
  for (std::uint32_t t = 0; t < tiles.size(); ++t) {
    if (NeededBytes(tiles[t]) > target.sram_bytes_per_tile ||
        ExecutableBytes(tiles[t]) > target.executable_bytes) {
      overflowing.push_back(t);
    }
  }
  std::stable_sort(overflowing.begin(), overflowing.end(), [&](std::uint32_t a, std::uint32_t b) {
    return NeededBytes(tiles[a]) > NeededBytes(tiles[b]);
  });
  return overflowing;
}

}  // namespace

std::uint64_t BytesOf(const TileMemory& tile, MemoryCategory category) {
  return tile.bytes[static_cast<std::size_t>(category)];
}

std::uint64_t NeededBytes(const TileMemory& tile) { return tile.total() + tile.gap_bytes; }

std::uint64_t ExecutableBytes(const TileMemory& tile) {
  return BytesOf(tile, MemoryCategory::kVertexCode) +
         BytesOf(tile, MemoryCategory::kInternalExchangeCode) +
         BytesOf(tile, MemoryCategory::kHostExchangeCode) +
         BytesOf(tile, MemoryCategory::kControlCode);
}

MemoryPlan PlanMemory(const std::vector<GraphPlan>& graphs, const Target& target,
                      const TilePartition& partition, const PlanOptions& options) {
  const TileSpace space = TilesOf(graphs, partition, options);
  std::vector<GraphLiveness> liveness;
  liveness.reserve(graphs.size());
  for (const GraphPlan& graph : graphs) liveness.push_back(FindLiveness(graph, space));
  std::vector<std::uint32_t> all(graphs.size());
  std::iota(all.begin(), all.end(), 0);
  MemoryPlan memory;
  memory.tiles = TilesWith(graphs, liveness, all, space);
  AddGaps(space, memory.tiles);
  CompareWithGraphsAlone(graphs, liveness, space, memory);
  for (GraphLiveness& graph : liveness) memory.liveness.push_back(std::move(graph.points));
  memory.overflowing = OverflowingTiles(memory.tiles, target);
  return memory;
}

}  // namespace poprt::ipu
