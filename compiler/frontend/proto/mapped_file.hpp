#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace poprt::frontend {

/// A regular file mapped for reading. Movable; the bytes live as long as the object.
class MappedFile {
 public:
  /// NotFound when there is no such file, InvalidArgument when it is no regular file or cannot be
  /// read. Messages start with the path.
  static absl::StatusOr<MappedFile> Open(const std::string& path);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::string_view bytes() const { return {static_cast<const char*>(data_), size_}; }

 private:
  MappedFile(void* data, std::size_t size) : data_(data), size_(size) {}

  void* data_ = nullptr;  // null for an empty file
  std::size_t size_ = 0;
};

}  // namespace poprt::frontend
