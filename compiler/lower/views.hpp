#pragma once

#include "compiler/lower/schedule.hpp"

namespace poprt::lower {

/// Removes steps that only move bytes from one buffer to another:
///
///     Concat    whose parts are contiguous in the result (nothing before the axis): what computes
///               a part writes it there. Concats of concats become one buffer, and parts that
///               several concats share do so too where they stand in the same order. A part that
///               cannot be written in place (an input of the graph, a constant, the second use of
///               one part) is copied alone.
///     Split, Slice, Gather of one constant index, Transpose of axes of extent 1
///               whose results are contiguous in their input: results are views of it.
///
/// Parts start at multiples of program::kSlotAlignment; where they would not, the step stays. So
/// does what enters or leaves the bodies of steps.
void MakeViews(Schedule& schedule);

}  // namespace poprt::lower
