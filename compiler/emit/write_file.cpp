#include "compiler/emit/write_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace poprt::emit {
namespace {

/// What a file created in the ordinary way would be readable by.
mode_t OrdinaryMode() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

/// 0, or the error.
int WriteAll(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t part = std::min<std::size_t>(bytes.size(), std::size_t{1} << 30);
    const ssize_t written = ::write(file, bytes.data(), part);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

absl::Status CannotWrite(const std::string& path, int error) {
  return absl::InvalidArgumentError(
      path + ": cannot be written: " + std::generic_category().message(error));
}

}  // namespace

absl::StatusOr<PendingFile> PendingFile::Create(const std::string& path) {
  std::string temporary = path + ".XXXXXX";
  const int file = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (file < 0) return CannotWrite(path, errno);
  PendingFile pending(path, temporary, file);
  if (::fchmod(file, OrdinaryMode()) != 0) return CannotWrite(path, errno);
  return pending;
}

PendingFile::PendingFile(std::string path, std::string temporary, int file)
    : path_(std::move(path)), temporary_(std::move(temporary)), file_(file) {}

PendingFile::PendingFile(PendingFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, "")),
      file_(std::exchange(other.file_, -1)) {}

PendingFile& PendingFile::operator=(PendingFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(temporary_, other.temporary_);
  std::swap(file_, other.file_);
  return *this;
}

PendingFile::~PendingFile() {
  if (file_ >= 0) ::close(file_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

absl::Status PendingFile::Write(FilePieces content) {
  int error = 0;
  content.Drain([&](std::string_view piece) {
    error = WriteAll(file_, piece);
    return error == 0;
  });
  if (error == 0 && ::fsync(file_) != 0) error = errno;
  if (::close(std::exchange(file_, -1)) != 0 && error == 0) error = errno;
  return error == 0 ? absl::OkStatus() : CannotWrite(path_, error);
}

absl::Status PendingFile::Commit() && {
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) return CannotWrite(path_, errno);
  temporary_.clear();
  return absl::OkStatus();
}

absl::Status WriteFileAtomically(const std::string& path, std::string_view bytes) {
  absl::StatusOr<PendingFile> file = PendingFile::Create(path);
  if (!file.ok()) return file.status();
  const absl::Status status = file->Write(FilePieces(bytes));
  return status.ok() ? (*std::move(file)).Commit() : status;
}

}  // namespace poprt::emit
