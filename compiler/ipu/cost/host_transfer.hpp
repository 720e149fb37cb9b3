#pragma once

#include <cstdint>

#include "compiler/ipu/target/target.hpp"

/// Data that goes between the host and the IPU (section 7.1.5).
namespace poprt::ipu {

/// Seconds for the host to send `bytes` to the IPU, without the call.
double HostLoadSeconds(const Platform& platform, std::uint64_t bytes);

/// Seconds for the host to fetch `bytes` from the IPU, without the call.
double HostStoreSeconds(const Platform& platform, std::uint64_t bytes);

/// Seconds of host work that a call adds to each of the batches it runs; `batches_per_step` is at
/// least 1.
double HostCallSeconds(const Platform& platform, std::uint64_t batches_per_step);

/// Cycles of the tile clock in that time, rounded up: what a plan counts.
std::uint64_t HostCycles(const Platform& platform, double seconds);

}  // namespace poprt::ipu
