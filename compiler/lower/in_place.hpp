#pragma once

#include "compiler/lower/schedule.hpp"

namespace poprt::lower {

/// Lets steps whose kernel says so (Step::in_place_inputs) compute their first output in the
/// memory of an input that nothing reads afterwards and that has the same size. Inputs of the
/// graph, constants, variables and what enters or leaves bodies of steps are not overwritten, nor
/// are parts of a buffer. Steps inside steps stay as they are. The order of the steps must not
/// change afterwards.
void ComputeInPlace(Schedule& schedule);

}  // namespace poprt::lower
