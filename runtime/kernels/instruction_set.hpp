#pragma once

#include <cstdint>
#include <span>

namespace poprt::kernels {

/// What loops are compiled for, each including those before it.
enum class InstructionSet : std::uint8_t {
  kPortable,  ///< the baseline of the build
  kAvx2,      ///< AVX2, FMA, F16C, BMI and BMI2
  kAvx512,    ///< AVX-512 F, BW, VL and DQ
  kAmx,       ///< AMX for bfloat16 and for bytes
};

/// "portable", "avx2", "avx512" or "amx".
constexpr const char* NameOf(InstructionSet set) {
  switch (set) {
    case InstructionSet::kAvx2:
      return "avx2";
    case InstructionSet::kAvx512:
      return "avx512";
    case InstructionSet::kAmx:
      return "amx";
    default:
      return "portable";
  }
}

/// Those that this processor can run, the fastest last. Found once in a process.
std::span<const InstructionSet> SupportedInstructionSets();

/// The one that the environment variable POPRT_INSTRUCTION_SET names, if this processor can run
/// it, or the fastest for it. Found once in a process.
InstructionSet BestInstructionSet();

/// Whether this processor has the set's instructions for sums of products of bytes: AVX-VNNI beside
/// AVX2, AVX512-VNNI beside AVX-512 and AMX.
bool HasVnni(InstructionSet set);

}  // namespace poprt::kernels
