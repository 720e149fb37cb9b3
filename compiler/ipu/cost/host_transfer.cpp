#include "compiler/ipu/cost/host_transfer.hpp"

#include <cmath>

namespace poprt::ipu {

double HostLoadSeconds(const Platform& platform, std::uint64_t bytes) {
  return static_cast<double>(bytes) / static_cast<double>(platform.host_load_bytes_per_second);
}

double HostStoreSeconds(const Platform& platform, std::uint64_t bytes) {
  return static_cast<double>(bytes) / static_cast<double>(platform.host_store_bytes_per_second);
}

double HostCallSeconds(const Platform& platform, std::uint64_t batches_per_step) {
  constexpr double kNanosecond = 1e-9;
  return static_cast<double>(platform.call_nanoseconds) * kNanosecond /
         static_cast<double>(batches_per_step);
}

std::uint64_t HostCycles(const Platform& platform, double seconds) {
  return static_cast<std::uint64_t>(std::ceil(seconds * static_cast<double>(platform.clock_hz)));
}

}  // namespace poprt::ipu
