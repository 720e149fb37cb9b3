#pragma once

#include <cstdint>

#include "runtime/program/program.hpp"

namespace poprt::dump {

/// Bytes of weights that a branch reads. Bytes that several of its slots share count once; those
/// shared with other branches count in each of them.
std::uint64_t BranchWeightBytes(const program::Branch& branch);

}  // namespace poprt::dump
