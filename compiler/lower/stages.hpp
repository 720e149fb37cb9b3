#pragma once

#include "compiler/lower/schedule.hpp"

namespace poprt::lower {

/// Makes the stages of the steps those of a pipeline. A step that reads what a later stage writes,
/// or whose node says nothing and which therefore is in stage 0, goes to the latest stage of those
/// it reads from; then stages are numbered from 0 without gaps and steps are put in the order of
/// their stages, otherwise in the given one. Every buffer has one step that computes it, or each
/// part of it one.
void OrderByStage(Schedule& schedule);

}  // namespace poprt::lower
