#pragma once

#include <span>

#include "compiler/host/arena.hpp"
#include "compiler/host/weights.hpp"
#include "compiler/ipu/target/target.hpp"
#include "compiler/lower/schedule.hpp"
#include "runtime/program/program.hpp"

namespace poprt::emit {

/// Puts schedules and their plans together: one branch for each, in order. Buffers that nothing
/// uses get no slot. Variables stand one behind the other, those of the first schedule first.
program::Program BuildProgram(std::span<const lower::Schedule> schedules,
                              std::span<const host::ArenaPlan> arenas,
                              const host::WeightsPlan& weights, const ipu::Target& target,
                              const ipu::TilePartition& partition, std::uint32_t batches_per_step);

}  // namespace poprt::emit
