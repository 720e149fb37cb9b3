#pragma once

#include <cstdint>

#include "compiler/ipu/target/target.hpp"

/// Data that IPUs send each other (section 1.4).
namespace poprt::ipu {

/// Cycles of a sync between `ipus` IPUs beyond that of the tiles of one.
std::uint64_t IpuSyncCycles(const Target& target, const Platform& platform, std::uint32_t ipus);

/// Cycles in which an IPU gets `bytes` from others over all its links; 0 for no bytes.
std::uint64_t IpuLinkCycles(const Target& target, const Platform& platform, std::uint64_t bytes);

}  // namespace poprt::ipu
