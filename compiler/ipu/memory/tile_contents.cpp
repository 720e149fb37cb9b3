#include "compiler/ipu/memory/tile_contents.hpp"

#include <algorithm>
#include <set>

#include "compiler/ipu/memory/stored_tensors.hpp"
#include "compiler/ipu/memory/tile_space.hpp"

namespace poprt::ipu {
namespace {

/// A tile by its IPU and its number there.
struct TileAddress {
  std::uint32_t ipu = 0;
  std::uint32_t tile = 0;
};

TileAddress AddressOf(const Plan& plan, std::uint32_t tile) {
  const std::uint32_t tiles = plan.partition.io_tiles + plan.partition.compute_tiles;
  return {tile / tiles, tile % tiles};
}

bool IsOn(const StoredTensor& stored, std::uint32_t ipu) {
  return std::binary_search(stored.ipus.begin(), stored.ipus.end(), ipu);
}

void Append(const TensorPlan& tensor, std::uint64_t bytes, std::vector<TileContent>& contents) {
  if (bytes > 0) contents.push_back({tensor.name, bytes, tensor.element_type});
}

void AppendWeights(const GraphPlan& graph, TileAddress address, std::set<std::uint64_t>& shared,
                   std::vector<TileContent>& weights) {
  for (const StoredTensor& stored : StoredTensorsOf(graph)) {
    const TensorPlan& tensor = graph.tensors[stored.tensor];
    if (!tensor.always_live() || !IsOn(stored, address.ipu)) continue;
    if (tensor.shared && !shared.insert(*tensor.shared).second) continue;
    Append(tensor, BytesOnTile(tensor, address.tile), weights);
  }
}

void AppendLive(const Plan& plan, const GraphPlan& graph, TileAddress address, std::size_t op,
                std::vector<TileContent>& live) {
  for (const StoredTensor& stored : StoredTensorsOf(graph)) {
    const TensorPlan& tensor = graph.tensors[stored.tensor];
    if (tensor.always_live() || !IsOn(stored, address.ipu)) continue;
    const std::uint64_t bytes = BytesOnTile(tensor, address.tile);
    const bool is_live =
        (stored.first <= op && op <= stored.last) || IsHostBuffer(tensor, plan.partition.io_tiles);
    if (is_live) Append(tensor, bytes, live);
  }
}

void AppendTemporaries(const OperatorPlan& op, TileAddress address,
                       std::vector<TileContent>& temporaries) {
  if (op.ipu != address.ipu) return;
  for (const Superstep& step : op.steps) {
    const bool runs_there = address.tile - step.tiles.first < step.tiles.count;
    if (!runs_there || step.temporary_bytes == 0) continue;
    temporaries.push_back({step.name, step.temporary_bytes});
  }
}

void LargestFirst(std::vector<TileContent>& contents) {
  std::stable_sort(contents.begin(), contents.end(),
                   [](const TileContent& a, const TileContent& b) { return a.bytes > b.bytes; });
}

}  // namespace

const OperatorPlan* PeakOperator(const Plan& plan, std::uint32_t tile) {
  const TileMemory& memory = plan.memory.tiles[tile];
  if (memory.peak_graph >= plan.graphs.size()) return nullptr;
  const std::vector<OperatorPlan>& operators = plan.graphs[memory.peak_graph].operators;
  return memory.peak_operator < operators.size() ? &operators[memory.peak_operator] : nullptr;
}

TileContents ContentsOf(const Plan& plan, std::uint32_t tile) {
  const TileAddress address = AddressOf(plan, tile);
  TileContents contents;
  std::set<std::uint64_t> shared;
  for (const GraphPlan& graph : plan.graphs) {
    AppendWeights(graph, address, shared, contents.weights);
  }
  if (const OperatorPlan* op = PeakOperator(plan, tile)) {
    const TileMemory& memory = plan.memory.tiles[tile];
    AppendLive(plan, plan.graphs[memory.peak_graph], address, memory.peak_operator, contents.live);
    AppendTemporaries(*op, address, contents.temporaries);
  }
  LargestFirst(contents.weights);
  LargestFirst(contents.live);
  LargestFirst(contents.temporaries);
  return contents;
}

std::vector<std::uint64_t> BytesAtOperators(const Plan& plan, std::uint32_t tile) {
  const TileAddress address = AddressOf(plan, tile);
  const GraphPlan& graph = plan.graphs[plan.memory.tiles[tile].peak_graph];
  std::vector<std::uint64_t> bytes(graph.operators.size(), 0);
  std::vector<TileContent> contents;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    contents.clear();
    AppendTemporaries(graph.operators[i], address, contents);
    for (const TileContent& content : contents) bytes[i] = std::max(bytes[i], content.bytes);
  }
  for (const StoredTensor& stored : StoredTensorsOf(graph)) {
    const TensorPlan& tensor = graph.tensors[stored.tensor];
    if (tensor.always_live() || !IsOn(stored, address.ipu)) continue;
    const bool stays = IsHostBuffer(tensor, plan.partition.io_tiles);
    const std::size_t end = stays ? bytes.size() : std::min(stored.last + 1, bytes.size());
    for (std::size_t i = stays ? 0 : stored.first; i < end; ++i) {
      bytes[i] += BytesOnTile(tensor, address.tile);
    }
  }
  return bytes;
}

}  // namespace poprt::ipu
