#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/emit/file_pieces.hpp"

namespace poprt::emit {

/// A file that is written under a temporary name beside `path` and flushed, and takes that name
/// when it is committed: there is never a partial file under it, and nothing is left of a file that
/// is not committed. InvalidArgument says why something cannot be done.
class PendingFile {
 public:
  /// An empty file that is readable by whom files of this process are. Not to be called while
  /// another thread creates files: it looks at the process's umask.
  static absl::StatusOr<PendingFile> Create(const std::string& path);
  PendingFile(PendingFile&& other) noexcept;
  PendingFile& operator=(PendingFile&& other) noexcept;
  ~PendingFile();

  /// Once only. Pieces that are written are let go.
  absl::Status Write(FilePieces content);
  absl::Status Commit() &&;

 private:
  PendingFile(std::string path, std::string temporary, int file);

  std::string path_;
  std::string temporary_;  ///< empty once it is committed or moved from
  int file_ = -1;          ///< until it is written
};

/// Creates, writes and commits a PendingFile.
absl::Status WriteFileAtomically(const std::string& path, std::string_view bytes);

}  // namespace poprt::emit
