#include "compiler/ipu/cost/copy.hpp"

#include <algorithm>
#include <cmath>

namespace poprt::ipu {
namespace {

// Cycles of one atom: its first 8 bytes at the rate of 8-byte atoms, what follows on as contiguous
// bytes, and what is left of it in words and half words at theirs.
double AtomCycles(const Target& target, std::uint64_t bytes) {
  constexpr std::uint64_t kWide = 8;
  const std::uint64_t wide = bytes / kWide * kWide;
  const std::uint64_t word = bytes % kWide / 4 * 4;
  const std::uint64_t rest = bytes % 4;
  double cycles = static_cast<double>(word) * target.copy_cycles_per_byte_4_byte_atoms +
                  static_cast<double>(rest) * target.copy_cycles_per_byte_2_byte_atoms;
  if (wide > 0) {
    cycles += static_cast<double>(kWide) * target.copy_cycles_per_byte_8_byte_atoms +
              static_cast<double>(wide - kWide) * target.copy_cycles_per_byte_contiguous;
  }
  return cycles;
}

}  // namespace

std::uint64_t CopyCycles(const Target& target, std::uint64_t bytes, std::uint64_t atom_bytes) {
  if (bytes == 0) return 0;
  const auto call = static_cast<double>(target.copy_call_cycles);
  if (atom_bytes >= bytes) {
    return static_cast<std::uint64_t>(
        std::round(call + static_cast<double>(bytes) * target.copy_cycles_per_byte_contiguous));
  }
  const std::uint64_t atom = std::max<std::uint64_t>(atom_bytes, 1);
  const double atoms = static_cast<double>(bytes) / static_cast<double>(atom);
  return static_cast<std::uint64_t>(std::round(call + atoms * AtomCycles(target, atom)));
}

}  // namespace poprt::ipu
