#include "compiler/ipu/plan/host_steps.hpp"

#include <algorithm>

#include "compiler/ipu/cost/ceil_divide.hpp"

namespace poprt::ipu {

TileRange HostSteps::BufferTiles() const {
  return partition_.io_tiles > 0 ? TileRange{0, partition_.io_tiles} : steps_.tiles();
}

TileMapping HostSteps::Buffer(const TensorPlan& tensor) const {
  if (partition_.io_tiles == 0) return tensor.mapping;
  TileMapping mapping;
  mapping.tiles = BufferTiles();
  mapping.bytes_per_tile = CeilDivide(tensor.bytes, partition_.io_tiles);
  mapping.grain_bytes = steps_.target().vector_bytes;
  return mapping;
}

HostSteps::Traffic HostSteps::Sum(const std::vector<const TensorPlan*>& tensors) const {
  Traffic traffic;
  for (const TensorPlan* tensor : tensors) {
    traffic.buffer_bytes += Buffer(*tensor).bytes_per_tile;
    traffic.compute_bytes += tensor->mapping.bytes_per_tile;
  }
  return traffic;
}

/// A sync with the host, then every tile sends or receives its part.
void HostSteps::Stream(const char* name, Phase phase, std::uint64_t bytes) {
  if (bytes == 0) return;
  const Target& target = steps_.target();
  const bool load = phase == Phase::kHostLoad;
  steps_.Exchange(name, BufferTiles(),
                  {.bytes_received = load ? bytes : 0,
                   .bytes_sent = load ? 0 : bytes,
                   .sends = load ? 0U : 1U,
                   .receives = load ? 1U : 0U},
                  phase);
  steps_.AddCycles(target.global_sync_cycles);
}

void HostSteps::Load(const std::vector<const TensorPlan*>& tensors) {
  const Traffic traffic = Sum(tensors);
  Stream("load inputs", Phase::kHostLoad, traffic.buffer_bytes);
  if (partition_.io_tiles == 0) return;
  steps_.Exchange("I/O to compute tiles", steps_.tiles(),
                  {.bytes_received = traffic.compute_bytes,
                   .bytes_sent = traffic.buffer_bytes,
                   .sends = 1,
                   .receives = tensors.size()},
                  Phase::kIoToCompute);
}

void HostSteps::Store(const std::vector<const TensorPlan*>& tensors) {
  const Traffic traffic = Sum(tensors);
  if (partition_.io_tiles > 0) {
    steps_.Exchange("compute to I/O tiles", BufferTiles(),
                    {.bytes_received = traffic.buffer_bytes,
                     .bytes_sent = traffic.compute_bytes,
                     .sends = tensors.size(),
                     .receives = 1},
                    Phase::kComputeToIo);
  }
  Stream("store outputs", Phase::kHostStore, traffic.buffer_bytes);
}

}  // namespace poprt::ipu
