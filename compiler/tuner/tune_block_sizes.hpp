#pragma once

#include "compiler/lower/schedule.hpp"
#include "compiler/tuner/kernel_tuner.hpp"

namespace poprt::tuner {

/// Replaces the block sizes that the kernels of the steps, also of those inside steps, estimated
/// (runtime/kernels/block_sizes.hpp) by faster ones: halves or doubles one of them, a few times, as
/// long as that saves more than measurements differ by. Only what changes is reported. The tuner
/// has no choices that are to be taken.
void TuneBlockSizes(lower::Schedule& schedule, KernelTuner& tuner);

}  // namespace poprt::tuner
