#pragma once

#include <cstdlib>  // defines __GLIBC__

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace poprt::driver {

/// Gives what the heap has free back to the system. Worth it where much that lived long has just
/// been freed: after a model is parsed, and after weights have been made anew. glibc alone would
/// keep it until the newest block above it is freed, so that the peak of each stage would add to
/// those before.
inline void ReturnFreeMemory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace poprt::driver
