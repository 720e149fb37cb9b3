#pragma once

#include <utility>

#include "runtime/kernels/instruction_set.hpp"
#include "runtime/kernels/parallel.hpp"

// Sanitizers see the same errors in one form of a loop as in three, which take three times as long
// to compile.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define POPRT_WIDE_LOOPS
#endif

/// The loops of generic kernels, compiled once for every instruction set from one source. The
/// compiler makes vectors of them; since it neither contracts nor reorders arithmetic, all sets
/// give the same bits, and constant folding may use whichever the machine has.
namespace poprt::kernels {
namespace detail {

#if defined(POPRT_WIDE_LOOPS)

template <typename F>
[[gnu::target("avx2"), gnu::flatten]] void RunWithAvx2(F f) {
  f();
}

#if defined(__clang__)
#define POPRT_AVX512 "avx512f,avx512bw,avx512vl,avx512dq"
#else
#define POPRT_AVX512 "avx512f,avx512bw,avx512vl,avx512dq,prefer-vector-width=512"
#endif
template <typename F>
[[gnu::target(POPRT_AVX512), gnu::flatten]] void RunWithAvx512(F f) {
  f();
}
#undef POPRT_AVX512

#endif

}  // namespace detail

/// Calls f() with everything that it calls and that is defined in this file compiled for `set`,
/// which this processor must support.
template <typename F>
void RunWith([[maybe_unused]] InstructionSet set, F f) {
#if defined(POPRT_WIDE_LOOPS)
  if (set >= InstructionSet::kAvx512) return detail::RunWithAvx512(std::move(f));
  if (set == InstructionSet::kAvx2) return detail::RunWithAvx2(std::move(f));
#endif
  f();
}

/// The same for the best set of this processor. What loops read should be captured by value: the
/// compiler then knows that stores don't change it. Loops over numbers T of 8 bytes are compiled
/// once: compiling them takes as long, and most are rare, as conversion makes float64 and int64
/// half as wide.
template <typename T = float, typename F>
void RunWide(F f) {
  if constexpr (sizeof(T) == 8) {
    f();
  } else {
    RunWith(BestInstructionSet(), std::move(f));
  }
}

/// ForRanges with a function that is compiled for every instruction set, as RunWide does.
template <typename T = float, typename F>
void ForWideRanges(ThreadPool* pool, std::int64_t count, std::int64_t grain, const F& f) {
  ForRanges(pool, count, grain, [&f](std::int64_t begin, std::int64_t end, int worker) {
    RunWide<T>([&f, begin, end, worker] { f(begin, end, worker); });
  });
}

}  // namespace poprt::kernels
