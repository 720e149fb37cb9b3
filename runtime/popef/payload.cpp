#include "runtime/popef/payload.hpp"

#include <new>

#include "runtime/popef/compression.hpp"
#include "runtime/popef/hash.hpp"

namespace popef {

PayloadView Payload::View() const {
  if (compressed) return Decompress();
  return {region, stored.data(), stored.size()};
}

void Payload::Verify() const {
  VerifyHash();
  if (compressed) Decompress();
}

void Payload::VerifyHash() const {
  if (const std::uint64_t found = Hash(stored); found != hash) {
    Refuse(where, "payload hash of " + label, Hex(found),
           Hex(hash) + "; the payload has been altered");
  }
}

PayloadView Payload::Decompress() const {
  VerifyHash();
  constexpr std::align_val_t alignment{64};
  std::shared_ptr<std::byte> memory;
  try {
    memory = {static_cast<std::byte*>(::operator new(uncompressed_size + 1, alignment)),
              [](std::byte* bytes) { ::operator delete (bytes, std::align_val_t{64}); }};
  } catch (const std::bad_alloc&) {
    throw Error(ToString(where) + label + " needs " + std::to_string(uncompressed_size) +
                " bytes of memory, which is more than there is");
  }
  if (!Inflate(stored, {memory.get(), uncompressed_size})) {
    Refuse(
        where, "payload of " + label, "malformed",
        "a zlib stream that inflates to exactly " + std::to_string(uncompressed_size) + " bytes");
  }
  const std::byte* data = memory.get();
  return {std::move(memory), data, uncompressed_size};
}

}  // namespace popef
