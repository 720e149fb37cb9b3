#include "runtime/kernels/fused/byte_table.hpp"

#include "runtime/kernels/parallel.hpp"

#if defined(POPRT_X86_KERNELS)
#include <immintrin.h>
#endif

namespace poprt::kernels {
namespace {

#if defined(POPRT_X86_KERNELS)

bool HasVbmi() {
  static const bool has = __builtin_cpu_supports("avx512vbmi") != 0;
  return has;
}

/// Whole vectors of bytes, each of which an instruction looks up in half of the table. Returns how
/// many there were.
[[gnu::target("avx512f,avx512bw,avx512vbmi")]] std::int64_t LookUpVectors(const ByteTable& table,
                                                                          const std::uint8_t* x,
                                                                          std::int64_t count,
                                                                          std::uint8_t* y) {
  constexpr std::int64_t kBytes = 64;
  __m512i quarters[4];
  for (int i = 0; i < 4; ++i) quarters[i] = _mm512_loadu_si512(table.data() + i * kBytes);
  std::int64_t done = 0;
  for (; done + kBytes <= count; done += kBytes) {
    const __m512i bytes = _mm512_loadu_si512(x + done);
    const __m512i low = _mm512_permutex2var_epi8(quarters[0], bytes, quarters[1]);
    const __m512i high = _mm512_permutex2var_epi8(quarters[2], bytes, quarters[3]);
    const __mmask64 is_high = _mm512_movepi8_mask(bytes);
    _mm512_storeu_si512(y + done, _mm512_mask_mov_epi8(low, is_high, high));
  }
  return done;
}

#endif

}  // namespace

void LookUpBytes([[maybe_unused]] InstructionSet set, const ByteTable& table, const std::uint8_t* x,
                 std::int64_t count, std::uint8_t* y) {
  std::int64_t i = 0;
#if defined(POPRT_X86_KERNELS)
  if (set >= InstructionSet::kAvx512 && HasVbmi()) i = LookUpVectors(table, x, count, y);
#endif
  for (; i < count; ++i) y[i] = table[x[i]];
}

BoundKernel BindByteTable(const ByteTable& table, std::int64_t count) {
  return {.run =
              [table, count](const KernelArguments& args) {
                ForRanges(args.pool, count, kElementsPerTask,
                          [&](std::int64_t begin, std::int64_t end, int) {
                            LookUpBytes(BestInstructionSet(), table,
                                        args.in<std::uint8_t>(0) + begin, end - begin,
                                        args.out<std::uint8_t>(0) + begin);
                          });
              },
          .in_place_inputs = {0}};
}

}  // namespace poprt::kernels
