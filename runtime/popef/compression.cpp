#include "runtime/popef/compression.hpp"

#include <zlib.h>

#include "popef/Types.hpp"

namespace popef {
namespace {

const Bytef* In(std::span<const std::byte> bytes) {
  return reinterpret_cast<const Bytef*>(bytes.data());
}

}  // namespace

std::vector<std::byte> Deflate(std::span<const std::byte> bytes) {
  uLongf size = compressBound(bytes.size());
  std::vector<std::byte> out(size);
  const int result = compress2(reinterpret_cast<Bytef*>(out.data()), &size, In(bytes), bytes.size(),
                               Z_DEFAULT_COMPRESSION);
  if (result != Z_OK)
    throw Error("compressing an executable failed: zlib code " + std::to_string(result));
  out.resize(size);
  return out;
}

bool Inflate(std::span<const std::byte> bytes, std::span<std::byte> out) {
  // zlib wants room for one byte even when it writes none.
  Bytef none = 0;
  uLongf written = out.size();
  uLong read = bytes.size();
  auto* target = out.empty() ? &none : reinterpret_cast<Bytef*>(out.data());
  const int result = uncompress2(target, &written, In(bytes), &read);
  if (result == Z_MEM_ERROR) throw Error("decompressing an executable failed: out of memory");
  return result == Z_OK && written == out.size() && read == bytes.size();
}

}  // namespace popef
