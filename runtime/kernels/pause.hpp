#pragma once

namespace poprt::kernels {

/// What a thread does between two looks at something that another is about to write.
inline void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

}  // namespace poprt::kernels
