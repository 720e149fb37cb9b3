#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <memory>
#include <span>
#include <string>

namespace popef {

/// A file or the content of a stream, in memory, starting on a page and read-only once made. Kept
/// alive by everybody who holds a pointer to it.
class ByteRegion {
 public:
  /// Maps a regular file; pages are read when touched. Throws Error. The file must not be shortened
  /// in place while it is mapped (renaming another file over it is fine).
  static std::shared_ptr<const ByteRegion> MapFile(const std::string& path);

  /// Reads `size` bytes, or up to the end if 0. Throws Error if the stream fails or has fewer.
  static std::shared_ptr<const ByteRegion> ReadStream(std::istream& in, std::uint64_t size,
                                                      const std::string& name);

  ByteRegion(const ByteRegion&) = delete;
  ByteRegion& operator=(const ByteRegion&) = delete;
  ~ByteRegion();

  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  ByteRegion() = default;
  void Grow(std::size_t capacity);

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace popef
