#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "popef/Reader.hpp"
#include "runtime/popef/byte_region.hpp"
#include "runtime/popef/location.hpp"

namespace popef {

/// The payload of one blob inside a file that is kept in memory.
struct Payload {
  std::shared_ptr<const ByteRegion> region;
  /// As stored.
  std::span<const std::byte> stored;
  bool compressed = false;
  /// Of `stored` if not compressed.
  std::uint64_t uncompressed_size = 0;
  std::uint64_t hash = 0;
  /// Of the first payload byte.
  Location where;
  /// For messages: "DATA_TENSOR \"w\"".
  std::string label;

  /// See PayloadReader.
  PayloadView View() const;
  void Verify() const;

 private:
  void VerifyHash() const;
  PayloadView Decompress() const;
};

}  // namespace popef
