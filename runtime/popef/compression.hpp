#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace popef {

/// One zlib stream. Throws Error if memory runs out.
std::vector<std::byte> Deflate(std::span<const std::byte> bytes);

/// Inflates one zlib stream into exactly `out`. Returns false if the stream is malformed, has
/// another size or does not end with `bytes`. Throws Error if memory runs out.
bool Inflate(std::span<const std::byte> bytes, std::span<std::byte> out);

}  // namespace popef
