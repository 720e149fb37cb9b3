#pragma once

#include <array>
#include <cstdint>

#include "runtime/kernels/instruction_set.hpp"
#include "runtime/kernels/kernel.hpp"

namespace poprt::kernels {

/// What a function makes of each byte.
using ByteTable = std::array<std::uint8_t, 256>;

/// y[i] = table[x[i]] for `count` bytes, with the instructions of `set`; y may be x.
void LookUpBytes(InstructionSet set, const ByteTable& table, const std::uint8_t* x,
                 std::int64_t count, std::uint8_t* y);

/// The same for the bytes of input 0 and output 0.
BoundKernel BindByteTable(const ByteTable& table, std::int64_t count);

}  // namespace poprt::kernels
