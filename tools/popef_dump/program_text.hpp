#pragma once

#include <string>

#include "runtime/program/program.hpp"

namespace poprt::dump {

/// What a branch does, one line each for inputs, steps and outputs, each after `indent`:
///
///     %0 = input "x" : float32[1, 16] @arena 0x0
///     %1 = gemm(%0, w@0x1000 float32[16, 8], _) {activation="relu"} : float32[1, 8] @arena 0x40  #
///     fc output "y" = %1
///
/// %N is slot N in the arena, w@OFFSET one in the weights (bytes, hexadecimal), _ an operand that
/// is left out. The branch is one that program::FindProblem accepts.
std::string BranchText(const program::Branch& branch, const std::string& indent);

}  // namespace poprt::dump
