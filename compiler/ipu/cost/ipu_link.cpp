#include "compiler/ipu/cost/ipu_link.hpp"

#include <cmath>

#include "compiler/ipu/cost/ceil_divide.hpp"

namespace poprt::ipu {

// Section 1.4: there and back, 1 + floor(floor(n / 2) / 2) hops each.
std::uint64_t IpuSyncCycles(const Target& target, const Platform& platform, std::uint32_t ipus) {
  if (ipus < 2) return 0;
  const std::uint64_t hops = 1 + ipus / 2 / 2;
  const std::uint64_t nanoseconds = 2 * hops * target.ipu_sync_hop_nanoseconds;
  return target.global_sync_cycles +
         CeilDivide(nanoseconds * platform.clock_hz, std::uint64_t{1'000'000'000});
}

std::uint64_t IpuLinkCycles(const Target& target, const Platform& platform, std::uint64_t bytes) {
  const double bits_per_second = static_cast<double>(target.ipu_links) *
                                 static_cast<double>(target.ipu_link_bits_per_second) *
                                 target.ipu_link_efficiency;
  const double seconds = 8.0 * static_cast<double>(bytes) / bits_per_second;
  return static_cast<std::uint64_t>(std::ceil(seconds * static_cast<double>(platform.clock_hz)));
}

}  // namespace poprt::ipu
