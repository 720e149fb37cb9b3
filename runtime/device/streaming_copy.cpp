#include "runtime/device/streaming_copy.hpp"

#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace poprt::device {

#if defined(__SSE2__)

void StreamingCopy(void* to, const void* from, std::size_t bytes) {
  constexpr std::size_t kVectors = 4;  // of a cache line
  const std::size_t lines = bytes / (kVectors * sizeof(__m128i));
  auto* target = static_cast<__m128i*>(to);
  const auto* source = static_cast<const __m128i*>(from);
  for (std::size_t i = 0; i < lines * kVectors; i += kVectors) {
    const __m128i a = _mm_loadu_si128(source + i);
    const __m128i b = _mm_loadu_si128(source + i + 1);
    const __m128i c = _mm_loadu_si128(source + i + 2);
    const __m128i d = _mm_loadu_si128(source + i + 3);
    _mm_stream_si128(target + i, a);
    _mm_stream_si128(target + i + 1, b);
    _mm_stream_si128(target + i + 2, c);
    _mm_stream_si128(target + i + 3, d);
  }
  _mm_sfence();  // before whatever tells others that the memory is there
  const std::size_t done = lines * kVectors * sizeof(__m128i);
  if (done < bytes) std::memcpy(target + lines * kVectors, source + lines * kVectors, bytes - done);
}

#else

void StreamingCopy(void* to, const void* from, std::size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

#endif

}  // namespace poprt::device
