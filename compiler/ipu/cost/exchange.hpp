#pragma once

#include <cstdint>

#include "compiler/ipu/target/target.hpp"

/// Data that tiles send each other (sections 1.4 and 7.1.3).
namespace poprt::ipu {

/// What one tile does in an exchange phase. Sending to many costs no more than sending to one.
struct TileExchange {
  std::uint64_t bytes_received = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t sends = 0;            ///< pieces sent
  std::uint64_t receives = 0;         ///< pieces received: times the source is switched
  std::uint64_t pointer_changes = 0;  ///< pieces that do not follow on in memory
  /// The tiles of an exchange bus receive the same data (section 2.6: inputs of a product whose
  /// output channels are split in an even number).
  bool shared_bus = false;
  bool fragmented = false;  ///< many small pieces from many tiles
  /// Weights are among it: they lie elsewhere for every layer, so that its code serves no other
  /// one.
  bool weights = false;
};

/// Cycles of the phase if this tile is its slowest, the overhead of the phase (its sync) included;
/// 0 when the tile neither sends nor receives.
std::uint64_t ExchangeCycles(const Target& target, const TileExchange& exchange);

/// Bytes of the program that the tile runs in that phase; 0 when it neither sends nor receives.
std::uint64_t ExchangeCodeBytes(const Target& target, const TileExchange& exchange);

}  // namespace poprt::ipu
