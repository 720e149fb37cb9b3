#include "runtime/kernels/instruction_set.hpp"

#include <cstdlib>
#include <string_view>
#include <vector>

#if defined(POPRT_X86_KERNELS)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace poprt::kernels {
namespace {

#if defined(POPRT_X86_KERNELS)

// Asking the processor itself takes tens of microseconds on a virtual machine. Clang's
// __builtin_cpu_supports doesn't know of F16C before version 15.
bool HasF16c() {
#if defined(__clang__)
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
#else
  return __builtin_cpu_supports("f16c") != 0;
#endif
}

bool HasAvx2() {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 && HasF16c() &&
         __builtin_cpu_supports("bmi") != 0 && __builtin_cpu_supports("bmi2") != 0;
}

bool HasAvx512() {
  return HasAvx2() && __builtin_cpu_supports("avx512f") != 0 &&
         __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
         __builtin_cpu_supports("avx512dq") != 0;
}

// Compilers differ in whether their own checks know of it.
bool HasAvxVnni() {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  constexpr unsigned kBit = 1U << 4;
  return __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0 && (eax & kBit) != 0;
}

// Linux has to be asked for the tiles' registers, which are a part of a thread's state, once for
// all threads of the process.
bool HasAmx() {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  constexpr unsigned kBits = 1U << 22 | 1U << 24 | 1U << 25;  // of bfloat16, tiles, bytes
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0 || (edx & kBits) != kBits) return false;
#if defined(__linux__)
  constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;
  return HasAvx512() && syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}

#endif

struct Candidate {
  InstructionSet set;
  bool (*is_supported)();
};

constexpr Candidate kCandidates[] = {
    {InstructionSet::kPortable, [] { return true; }},
#if defined(POPRT_X86_KERNELS)
    {InstructionSet::kAvx2, HasAvx2},
    {InstructionSet::kAvx512, HasAvx512},
    {InstructionSet::kAmx, HasAmx},
#endif
};

std::vector<InstructionSet> FindSupported() {
  std::vector<InstructionSet> supported;
  for (const auto& [set, is_supported] : kCandidates) {
    if (is_supported()) supported.push_back(set);
  }
  return supported;
}

/// Where another set is chosen, no permission to use AMX is asked for.
InstructionSet FindBest() {
  const char* const name = std::getenv("POPRT_INSTRUCTION_SET");
  for (const auto& [set, is_supported] : kCandidates) {
    if (name != nullptr && std::string_view(name) == NameOf(set) && is_supported()) return set;
  }
  return SupportedInstructionSets().back();
}

}  // namespace

std::span<const InstructionSet> SupportedInstructionSets() {
  static const std::vector<InstructionSet> supported = FindSupported();
  return supported;
}

InstructionSet BestInstructionSet() {
  static const InstructionSet best = FindBest();
  return best;
}

bool HasVnni([[maybe_unused]] InstructionSet set) {
#if defined(POPRT_X86_KERNELS)
  if (set >= InstructionSet::kAvx512) return __builtin_cpu_supports("avx512vnni") != 0;
  if (set == InstructionSet::kAvx2) return HasAvxVnni();
#endif
  return false;
}

}  // namespace poprt::kernels
