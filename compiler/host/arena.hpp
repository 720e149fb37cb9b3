#pragma once

#include <cstdint>
#include <vector>

#include "compiler/lower/schedule.hpp"

namespace poprt::host {

/// Offsets of a schedule's activations in the arena.
struct ArenaPlan {
  /// For every buffer; zero for constants, variables and empty tensors. Views have the offset of
  /// their storage.
  std::vector<std::uint64_t> offsets;
  std::uint64_t bytes = 0;
};

/// Gives buffers that live at the same time different memory and lets others share. A buffer lives
/// from the step that writes it (inputs: from the start) to the last that reads it (outputs: to the
/// end), its views included.
///
/// Greedy by size: the largest buffer first, at the lowest offset that is free for its lifetime
/// (Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020).
ArenaPlan PlanArena(const lower::Schedule& schedule);

}  // namespace poprt::host
