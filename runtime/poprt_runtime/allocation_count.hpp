#pragma once

#include <cstddef>

namespace poprt::runtime::test {

/// How often operator new has been called in this process.
std::size_t AllocationCount();

}  // namespace poprt::runtime::test
