#pragma once

#include <string>

#include "runtime/program/program.hpp"

namespace poprt::program {

/// True if the bytes of the slots overlap.
bool Overlap(const Slot& a, const Slot& b);

/// What is wrong with the bodies of a step, whose own operands exist, and how their operands and
/// those of the step fit together; empty if nothing. Does not look at the steps inside.
std::string FindBodyProblem(const Branch& branch, const Step& step);

}  // namespace poprt::program
