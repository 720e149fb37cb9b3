#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

#include "runtime/program/program.hpp"

/// Bytes of an executable blob: a 64-byte header, the program, and the weights from a 4 KiB
/// boundary. docs/popef.md is the specification.
namespace poprt::program {

/// Weights start at a multiple of this from the start of the payload.
inline constexpr std::uint64_t kWeightsAlignment = 4096;
inline constexpr std::uint32_t kPayloadVersion = 10;

/// The payload is damaged or of another version; says at which byte.
class PayloadError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Everything before the weights: header, program, padding. The weights must follow directly.
std::string SerializeHead(const Program& program, std::uint64_t weight_bytes);

/// True if the bytes start as every payload written by poprt does, whatever its version.
bool IsPayload(std::span<const std::byte> bytes);

/// A payload in memory. `weights` points into the bytes that were parsed.
struct Payload {
  Program program;
  std::span<const std::byte> weights;
};

/// Verifies header, program hash and the program itself (FindProblem); does not touch the weights.
/// `bytes` must be aligned to 64. Throws PayloadError.
Payload ParsePayload(std::span<const std::byte> bytes);

}  // namespace poprt::program
