#pragma once

#include <cstddef>

namespace poprt::device {

/// Copies memory that does not overlap, without a detour through the caches of the processor: the
/// way for what nobody looks at soon, which leaves the caches to those who compute meanwhile and
/// takes two thirds of the traffic. `to` is aligned to 64 bytes, `from` as it may be.
void StreamingCopy(void* to, const void* from, std::size_t bytes);

}  // namespace poprt::device
