#pragma once

#include <optional>

#include "runtime/program/program.hpp"

namespace poprt::bench {

/// Multiplications and additions that the operator of a step asks for, whatever the kernel saves
/// (Winograd) or adds (padding); nothing where that is not known. Steps of a program that is loaded
/// only.
std::optional<double> OperationsOf(const program::Branch& branch, const program::Step& step);

/// Bytes of the operands of a step, each counted once, views included.
double OperandBytesOf(const program::Branch& branch, const program::Step& step);

}  // namespace poprt::bench
