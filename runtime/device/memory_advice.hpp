#pragma once

#include <cstddef>

namespace poprt::device {

enum class MemoryUse { kRead, kWrite };

/// Tells the system what the environment asks for of memory that programs use for long:
///
///     POPRT_HUGE_PAGES=1   2 MiB pages where the system has them
///     POPRT_PREFAULT=1     all pages now rather than at their first use
///
/// Any other value, or none, asks for nothing. Advice only: what the system cannot do is left out.
/// The memory need not begin or end at a page; nothing is written to it.
void AdviseMemory(const void* data, std::size_t bytes, MemoryUse use);

}  // namespace poprt::device
