#include "compiler/ipu/plan/step_builder.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "compiler/ipu/cost/ceil_divide.hpp"
#include "compiler/ipu/cost/copy.hpp"

namespace poprt::ipu {
namespace {

constexpr std::uint64_t kPointerBytes = 4;

constexpr char kMemcpyCodelet[] = "poplar_rt::DstVectorMemcpy";

/// There is one for each width that a copy can load at once.
std::string StridedCopyCodelet(const Target& target, std::uint64_t atom_bytes) {
  const std::uint64_t width = std::gcd(std::max<std::uint64_t>(atom_bytes, 1), target.vector_bytes);
  return "poplar_rt::StridedCopy<" + std::to_string(8 * width) + "bit>";
}

}  // namespace

void StepBuilder::Add(Superstep step) {
  step.repeats = repeats_;
  step.temporary_bytes = held_;
  step.total_cycles = step.cycles * step.tiles.count;
  steps_.push_back(std::move(step));
}

void StepBuilder::Compute(const ComputeSet& set) {
  if (set.vertex_cycles == 0) return;
  Superstep step;
  step.phase = Phase::kCompute;
  step.name = set.name;
  step.vertex = set.vertex;
  step.tiles = set.tiles;
  step.cycles = ComputeSetCycles(target_, set.kind, set.vertex_cycles);
  step.vertices = set.vertices * set.tiles.count;
  step.edges = set.edges * step.vertices;
  step.vertex_state_bytes = set.vertices * (static_cast<std::uint64_t>(set.state) + set.list_bytes);
  step.control_code_bytes = set.supervisor ? kSupervisorControlBytes : kWorkerControlBytes;
  Add(std::move(step));
}

void StepBuilder::Exchange(std::string name, TileRange tiles, const TileExchange& tile,
                           Phase phase) {
  const std::uint64_t cycles = ExchangeCycles(target_, tile);
  if (cycles == 0) return;
  Superstep step;
  step.phase = phase;
  step.name = std::move(name);
  step.tiles = tiles;
  step.cycles = cycles;
  step.bytes = tile.bytes_received * tiles.count;
  step.exchange_code_bytes = ExchangeCodeBytes(target_, tile);
  step.reads_weights = tile.weights;
  step.control_code_bytes = kExchangeControlBytes;
  Add(std::move(step));
}

void StepBuilder::GatheringExchange(std::string name, TileRange tiles, const TileExchange& tile,
                                    std::uint64_t receivers) {
  const std::size_t before = steps_.size();
  Exchange(std::move(name), tiles, tile);
  if (steps_.size() == before) return;
  std::uint64_t& code = steps_.back().exchange_code_bytes;
  const std::uint64_t phase = std::min(target_.exchange_phase_code_bytes, code);
  code = phase + CeilDivide((code - phase) * std::min<std::uint64_t>(receivers, tiles.count),
                            std::max(tiles.count, 1U));
}

void StepBuilder::MixedExchange(std::string name, TileRange tiles, const TileExchange& tile,
                                std::uint64_t bytes) {
  const std::size_t before = steps_.size();
  Exchange(std::move(name), tiles, tile);
  if (steps_.size() > before) steps_.back().bytes = bytes * tiles.count;
}

void StepBuilder::Copy(std::string name, TileRange tiles, std::uint64_t bytes,
                       std::uint64_t atom_bytes) {
  const bool strided = atom_bytes < bytes;
  PricedCopy(std::move(name), strided ? StridedCopyCodelet(target_, atom_bytes) : kMemcpyCodelet,
             tiles, bytes, CopyCycles(target_, bytes, atom_bytes));
}

void StepBuilder::PricedCopy(std::string name, std::string vertex, TileRange tiles,
                             std::uint64_t bytes, std::uint64_t cycles) {
  if (bytes == 0) return;
  Superstep step;
  step.phase = Phase::kCopy;
  step.name = std::move(name);
  step.vertex = std::move(vertex);
  step.tiles = tiles;
  step.cycles = cycles;
  step.bytes = bytes * tiles.count;
  step.vertices = tiles.count;
  step.edges = 2 * step.vertices;
  step.vertex_state_bytes = static_cast<std::uint64_t>(VertexState::kFourWords);
  step.control_code_bytes = kWorkerControlBytes;
  Add(std::move(step));
}

void StepBuilder::CopyPieces(std::string name, TileRange tiles, std::uint64_t bytes,
                             std::uint64_t piece_bytes, std::uint64_t cycles) {
  if (bytes == 0) return;
  PricedCopy(std::move(name), StridedCopyCodelet(target_, piece_bytes), tiles, bytes, cycles);
  steps_.back().vertex_state_bytes += 2 * kPointerBytes * CeilDivide(bytes, piece_bytes);
}

void StepBuilder::AddCycles(std::uint64_t cycles) {
  if (steps_.empty()) return;
  steps_.back().cycles += cycles;
  steps_.back().total_cycles += cycles * steps_.back().tiles.count;
}

void StepBuilder::Append(const std::vector<Superstep>& steps) {
  for (Superstep step : steps) {
    step.repeats *= repeats_;
    step.temporary_bytes += held_;
    steps_.push_back(std::move(step));
  }
}

}  // namespace poprt::ipu
