#include "runtime/popef/blob_header.hpp"

#include <algorithm>
#include <concepts>
#include <sstream>
#include <string>

#include "runtime/popef/hash.hpp"

namespace popef {
namespace {

constexpr std::array<unsigned char, 8> kMagic = {0x89, 'P', 'o', 'p', 'E', 'F', 'C', '\n'};

enum Field : std::size_t {
  kMajor = 8,
  kMinor = 10,
  kType = 12,
  kReservedType = 14,
  kMustUnderstand = 16,
  kMayIgnore = 20,
  kTotalSize = 24,
  kInfoOffset = 32,
  kInfoSize = 40,
  kPayloadOffset = 48,
  kPayloadSize = 56,
  kUncompressedSize = 64,
  kInfoHash = 72,
  kPayloadHash = 80,
  kHeaderHash = 88,
  kReservedEnd = 96,
};

template <std::unsigned_integral T>
void Put(HeaderBytes& bytes, Field field, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    bytes[field + i] = static_cast<std::byte>(std::uint64_t{value} >> (8 * i) & 0xFFU);
  }
}

template <std::unsigned_integral T>
T Get(std::span<const std::byte> bytes, Field field) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    value |= std::to_integer<std::uint64_t>(bytes[field + i]) << (8 * i);
  }
  return static_cast<T>(value);
}

std::uint64_t HashOf(HeaderBytes bytes) {
  Put<std::uint64_t>(bytes, kHeaderHash, 0);
  return Hash(bytes);
}

std::string MagicText(std::span<const std::byte> bytes) {
  std::ostringstream out;
  out << std::hex << std::uppercase;
  for (const std::byte byte : bytes) {
    out << (out.tellp() > 0 ? " " : "") << (std::to_integer<unsigned>(byte) < 16 ? "0" : "")
        << std::to_integer<unsigned>(byte);
  }
  return out.str();
}

void CheckIdentity(std::span<const std::byte> rest, const Location& where) {
  if (rest.size() < kHeaderSize) {
    Refuse(where, "what is left for a blob", std::to_string(rest.size()) + " bytes",
           "at least " + std::to_string(kHeaderSize) + "; the file is truncated or not PopEF");
  }
  const auto magic = std::as_bytes(std::span(kMagic));
  if (!std::equal(magic.begin(), magic.end(), rest.begin())) {
    Refuse(where, "magic", MagicText(rest.first(kMagic.size())),
           MagicText(magic) + "; this is no file of this format");
  }
  const auto major = Get<std::uint16_t>(rest, kMajor);
  if (major != kFormatMajor) {
    Refuse(where.At(kMajor), "format version", major,
           std::to_string(kFormatMajor) + "; write the file again with this release");
  }
  HeaderBytes bytes;
  std::copy_n(rest.begin(), kHeaderSize, bytes.begin());
  const auto stored = Get<std::uint64_t>(rest, kHeaderHash);
  if (stored != HashOf(bytes)) {
    Refuse(where.At(kHeaderHash), "header hash", Hex(stored),
           Hex(HashOf(bytes)) + "; the header has been altered");
  }
}

void CheckReserved(std::span<const std::byte> rest, const Location& where) {
  if (const auto found = Get<std::uint16_t>(rest, kReservedType); found != 0) {
    Refuse(where.At(kReservedType), "reserved field", found, "0");
  }
  for (std::size_t i = kReservedEnd; i < kHeaderSize; ++i) {
    if (rest[i] != std::byte{0}) {
      Refuse(where.At(i), "reserved byte", std::to_integer<std::uint64_t>(rest[i]), "0");
    }
  }
}

void CheckFlags(const BlobHeader& header, const Location& where) {
  if (const std::uint32_t unknown = header.must_understand & ~kKnownFlags; unknown != 0) {
    Refuse(where.At(kMustUnderstand), "must-understand flags", Hex(header.must_understand),
           "bits of " + Hex(kKnownFlags) + "; the file needs a newer release");
  }
  if (!IsKnown(header.type) && (header.must_understand & kFlagKind) != 0) {
    Refuse(where.At(kType), "blob kind", static_cast<std::uint16_t>(header.type),
           "0 to 4 for a blob that must be understood; the file needs a newer release");
  }
  if (header.compressed() != (header.uncompressed_size != kNotCompressed)) {
    Refuse(where.At(kUncompressedSize), "uncompressed size", Hex(header.uncompressed_size),
           "all ones exactly if the flag ZLIB is absent");
  }
  if (header.compressed() && IsKnown(header.type) && header.type != BlobType::POPLAR_EXECUTABLE) {
    Refuse(where.At(kMustUnderstand), "flag ZLIB", "set", "on executables only");
  }
  if (header.compressed() && header.uncompressed_size / kMaxDeflateRatio > header.payload_size) {
    Refuse(where.At(kUncompressedSize), "uncompressed size", header.uncompressed_size,
           "at most " + std::to_string(kMaxDeflateRatio) + " times the payload of " +
               std::to_string(header.payload_size) + " bytes");
  }
}

void CheckSizes(const BlobHeader& header, std::uint64_t left, const Location& where) {
  const std::uint64_t total = header.total_size;
  if (total % kBlobAlignment != 0 || total < kHeaderSize) {
    Refuse(where.At(kTotalSize), "blob size", total, "a multiple of 64, at least 128");
  }
  if (total > left) {
    Refuse(where.At(kTotalSize), "blob size", total,
           "at most the " + std::to_string(left) + " bytes left; the file is truncated");
  }
  if (header.info_offset % kBlobAlignment != 0 || header.info_offset < kHeaderSize ||
      header.info_offset - kHeaderSize >= kPageAlignment || header.info_offset > total) {
    Refuse(where.At(kInfoOffset), "info offset", header.info_offset,
           "a multiple of 64 from 128 to less than 4224 inside the blob");
  }
  if (header.info_size > std::min(kMaxInfoSize, total - header.info_offset)) {
    Refuse(where.At(kInfoSize), "info size", header.info_size,
           "at most " + std::to_string(std::min(kMaxInfoSize, total - header.info_offset)));
  }
  const std::uint64_t info_end = header.info_offset + header.info_size;
  if (header.payload_offset % kBlobAlignment != 0 || header.payload_offset < info_end ||
      header.payload_offset - info_end >= kPageAlignment || header.payload_offset > total) {
    Refuse(where.At(kPayloadOffset), "payload offset", header.payload_offset,
           "a multiple of 64, less than 4096 behind the end of the info at " +
               std::to_string(info_end) + " and inside the blob");
  }
  const std::uint64_t room = total - header.payload_offset;
  if (header.payload_size > room || room - header.payload_size >= kBlobAlignment) {
    Refuse(where.At(kPayloadSize), "payload size", header.payload_size,
           "more than " + std::to_string(room) + " - 64 and at most " + std::to_string(room));
  }
  if (header.type == BlobType::METADATA && header.payload_size != 0) {
    Refuse(where.At(kPayloadSize), "payload size", header.payload_size, "0 for metadata");
  }
}

void CheckPadding(std::span<const std::byte> rest, std::uint64_t begin, std::uint64_t end,
                  const Location& where) {
  for (std::uint64_t i = begin; i < end; ++i) {
    if (rest[i] != std::byte{0}) {
      Refuse(where.At(i), "padding byte", std::to_integer<std::uint64_t>(rest[i]), "0");
    }
  }
}

}  // namespace

bool IsKnown(BlobType type) { return type <= BlobType::OPAQUE; }

bool HasPagePayload(BlobType type) {
  return type == BlobType::POPLAR_EXECUTABLE || type == BlobType::DATA_TENSOR ||
         type == BlobType::DATA_FEED;
}

HeaderBytes Encode(const BlobHeader& header) {
  HeaderBytes bytes{};
  std::ranges::copy(std::as_bytes(std::span(kMagic)), bytes.begin());
  Put(bytes, kMajor, header.major);
  Put(bytes, kMinor, header.minor);
  Put(bytes, kType, static_cast<std::uint16_t>(header.type));
  Put(bytes, kMustUnderstand, header.must_understand);
  Put(bytes, kMayIgnore, header.may_ignore);
  Put(bytes, kTotalSize, header.total_size);
  Put(bytes, kInfoOffset, header.info_offset);
  Put(bytes, kInfoSize, header.info_size);
  Put(bytes, kPayloadOffset, header.payload_offset);
  Put(bytes, kPayloadSize, header.payload_size);
  Put(bytes, kUncompressedSize, header.uncompressed_size);
  Put(bytes, kInfoHash, header.info_hash);
  Put(bytes, kPayloadHash, header.payload_hash);
  Put(bytes, kHeaderHash, HashOf(bytes));
  return bytes;
}

BlobHeader DecodeHeader(std::span<const std::byte> rest, const Location& where) {
  CheckIdentity(rest, where);
  BlobHeader header;
  header.major = Get<std::uint16_t>(rest, kMajor);
  header.minor = Get<std::uint16_t>(rest, kMinor);
  header.type = static_cast<BlobType>(Get<std::uint16_t>(rest, kType));
  header.must_understand = Get<std::uint32_t>(rest, kMustUnderstand);
  header.may_ignore = Get<std::uint32_t>(rest, kMayIgnore);
  header.total_size = Get<std::uint64_t>(rest, kTotalSize);
  header.info_offset = Get<std::uint64_t>(rest, kInfoOffset);
  header.info_size = Get<std::uint64_t>(rest, kInfoSize);
  header.payload_offset = Get<std::uint64_t>(rest, kPayloadOffset);
  header.payload_size = Get<std::uint64_t>(rest, kPayloadSize);
  header.uncompressed_size = Get<std::uint64_t>(rest, kUncompressedSize);
  header.info_hash = Get<std::uint64_t>(rest, kInfoHash);
  header.payload_hash = Get<std::uint64_t>(rest, kPayloadHash);
  CheckReserved(rest, where);
  CheckFlags(header, where);
  CheckSizes(header, rest.size(), where);
  CheckPadding(rest, kHeaderSize, header.info_offset, where);
  CheckPadding(rest, header.info_offset + header.info_size, header.payload_offset, where);
  CheckPadding(rest, header.payload_offset + header.payload_size, header.total_size, where);
  return header;
}

}  // namespace popef
