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

#include "compiler/emit/onnx_export.hpp"

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
  return ::fchmod(file, OrdinaryMode()) != 0 || ::fsync(file) != 0 ? errno : 0;
}

absl::Status CannotWrite(const std::string& path, int error) {
  return absl::InvalidArgumentError(
      path + ": cannot be written: " + std::generic_category().message(error));
}

}  // namespace

absl::StatusOr<PendingFile> PendingFile::Write(const std::string& path, std::string_view bytes) {
  std::string temporary = path + ".XXXXXX";
  const int file = ::mkstemp(temporary.data());
  if (file < 0) return CannotWrite(path, errno);
  PendingFile pending(path, temporary);
  int error = WriteAll(file, bytes);
  if (::close(file) != 0 && error == 0) error = errno;
  if (error != 0) return CannotWrite(path, error);
  return pending;
}

PendingFile::PendingFile(std::string path, std::string temporary)
    : path_(std::move(path)), temporary_(std::move(temporary)) {}

PendingFile::PendingFile(PendingFile&& other) noexcept
    : path_(std::move(other.path_)), temporary_(std::exchange(other.temporary_, "")) {}

PendingFile& PendingFile::operator=(PendingFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(temporary_, other.temporary_);
  return *this;
}

PendingFile::~PendingFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

absl::Status PendingFile::Commit() && {
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) return CannotWrite(path_, errno);
  temporary_.clear();
  return absl::OkStatus();
}

absl::Status WriteFileAtomically(const std::string& path, std::string_view bytes) {
  absl::StatusOr<PendingFile> file = PendingFile::Write(path, bytes);
  if (!file.ok()) return file.status();
  return (*std::move(file)).Commit();
}

}  // namespace poprt::emit
