#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "popef/Types.hpp"
#include "runtime/popef/location.hpp"

namespace popef {

inline constexpr std::size_t kHeaderSize = 128;
inline constexpr std::uint16_t kFormatMajor = 1;
inline constexpr std::uint16_t kFormatMinor = 0;
/// Blobs, infos and payloads start on multiples of this.
inline constexpr std::uint64_t kBlobAlignment = 64;
/// Writers put the payloads of executables, tensors and feeds on multiples of this.
inline constexpr std::uint64_t kPageAlignment = 4096;
inline constexpr std::uint64_t kMaxInfoSize = std::uint64_t{256} << 20;
inline constexpr std::uint64_t kNotCompressed = ~std::uint64_t{0};
/// Deflate cannot shrink further than this ratio.
inline constexpr std::uint64_t kMaxDeflateRatio = 1032;

/// Bits of BlobHeader::must_understand.
inline constexpr std::uint32_t kFlagZlib = 1U << 0;
inline constexpr std::uint32_t kFlagKind = 1U << 1;
inline constexpr std::uint32_t kKnownFlags = kFlagZlib | kFlagKind;

/// The fields of docs/popef.md section 2; offsets are relative to the blob.
struct BlobHeader {
  std::uint16_t major = kFormatMajor;
  std::uint16_t minor = kFormatMinor;
  BlobType type = BlobType::OPAQUE;
  std::uint32_t must_understand = 0;
  std::uint32_t may_ignore = 0;
  std::uint64_t total_size = 0;
  std::uint64_t info_offset = 0;
  std::uint64_t info_size = 0;
  std::uint64_t payload_offset = 0;
  std::uint64_t payload_size = 0;
  std::uint64_t uncompressed_size = kNotCompressed;
  std::uint64_t info_hash = 0;
  std::uint64_t payload_hash = 0;

  bool compressed() const { return (must_understand & kFlagZlib) != 0; }
};

using HeaderBytes = std::array<std::byte, kHeaderSize>;

bool IsKnown(BlobType type);

/// True for the kinds whose payload writers put on kPageAlignment.
bool HasPagePayload(BlobType type);

/// Computes the header's own hash as well.
HeaderBytes Encode(const BlobHeader& header);

/// Decodes and checks everything that can be checked without the info and the payload. `rest` is
/// what is left of the file from the start of the blob. Throws Error.
BlobHeader DecodeHeader(std::span<const std::byte> rest, const Location& where);

}  // namespace popef
