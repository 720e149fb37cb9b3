#pragma once

#include "compiler/lower/schedule.hpp"

namespace poprt::host {

/// Puts the steps of a schedule in the order with the smallest LargestLiveSet that is known: the
/// given one, or that of a list scheduler which always takes the step that is ready and leaves the
/// least memory in use, the earlier in the given order of those that are equal. Steps of a
/// lower stage come first, as they do in the given order (OrderByStage); steps inside steps keep
/// theirs. Every buffer has one step that computes it (parts of a buffer one each), so
/// this comes before ComputeInPlace. O(n log n) in steps and operands.
void OrderSteps(lower::Schedule& schedule);

}  // namespace poprt::host
