#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/ipu/plan/plan.hpp"

/// Plans by hand, for tests.
namespace poprt::ipu {

/// A tensor that lies evenly on the tiles, `bytes_per_tile` on each.
inline TensorPlan TensorOn(std::string name, TileRange tiles, std::uint64_t bytes_per_tile,
                           TensorKind kind = TensorKind::kActivation) {
  return {.name = std::move(name),
          .kind = kind,
          .bytes = bytes_per_tile * tiles.count,
          .mapping = {.tiles = tiles, .bytes_per_tile = bytes_per_tile}};
}

/// A step that takes no time and no memory.
inline Superstep StepOf(Phase phase, TileRange tiles = {}) {
  return {.phase = phase, .name = "s", .vertex = "", .tiles = tiles};
}

/// An operator with these steps.
inline OperatorPlan OperatorOf(std::string name, std::vector<TensorIndex> inputs,
                               std::vector<TensorIndex> outputs, std::vector<Superstep> steps) {
  return {.name = std::move(name),
          .op = "Relu",
          .inputs = std::move(inputs),
          .outputs = std::move(outputs),
          .steps = std::move(steps)};
}

/// Makes `first` and `last` of the tensors what the operators say: the host's outputs stay.
inline GraphPlan WithLifetimes(GraphPlan graph) {
  for (std::size_t i = 0; i < graph.operators.size(); ++i) {
    for (const TensorIndex t : graph.operators[i].outputs) graph.tensors[t].first = i;
    for (const TensorIndex t : graph.operators[i].inputs) graph.tensors[t].last = i;
  }
  for (TensorPlan& tensor : graph.tensors) {
    if (tensor.kind == TensorKind::kOutput) tensor.last = graph.operators.size() - 1;
  }
  return graph;
}

/// A target with few tiles, of which every one has 10,000 bytes, 7,000 of them for code.
inline Target SmallTarget(std::uint32_t tiles) {
  Target target;
  target.tiles = tiles;
  target.sram_bytes_per_tile = 10000;
  target.executable_bytes = 7000;
  target.global_sync_cycles = 600;
  return target;
}

}  // namespace poprt::ipu
