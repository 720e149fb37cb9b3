#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>

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

}  // namespace

absl::Status WriteFileAtomically(const std::string& path, std::string_view bytes) {
  const auto failed = [&](int error) {
    return absl::InvalidArgumentError(
        path + ": cannot be written: " + std::generic_category().message(error));
  };
  std::string temporary = path + ".XXXXXX";
  const int file = ::mkstemp(temporary.data());
  if (file < 0) return failed(errno);
  int error = WriteAll(file, bytes);
  if (::close(file) != 0 && error == 0) error = errno;
  if (error == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return absl::OkStatus();
  ::unlink(temporary.c_str());
  return failed(error);
}

}  // namespace poprt::emit
