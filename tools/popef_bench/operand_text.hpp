#pragma once

#include <string>

#include "runtime/program/program.hpp"

namespace poprt::bench {

/// "1x3x224x224 float16:64x3x7x7 _ -> 1x64x112x112": types other than float32 are named, "_" is an
/// operand left out, "()" a scalar.
std::string OperandText(const program::Branch& branch, const program::Step& step);

}  // namespace poprt::bench
