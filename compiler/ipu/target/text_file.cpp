#include "compiler/ipu/target/text_file.hpp"

#include <cerrno>
#include <fstream>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace poprt::ipu {
namespace {

constexpr std::size_t kLargestFile = std::size_t{1} << 20;

}  // namespace

absl::StatusOr<std::string> ReadTextFile(std::string_view kind, const std::string& path) {
  const std::string file_name = absl::StrCat(std::string(kind), " '", path, "'");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text(kLargestFile + 1, '\0');
  if (file.is_open()) file.read(text.data(), static_cast<std::streamsize>(text.size()));
  // A directory opens like a file and fails when it is read.
  if (!file.is_open() || file.bad() || (file.fail() && !file.eof())) {
    const int error = errno;
    const std::string reason = std::generic_category().message(error != 0 ? error : EIO);
    return absl::NotFoundError(absl::StrCat(file_name, " can't be read: ", reason));
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kLargestFile) {
    return absl::InvalidArgumentError(
        absl::StrCat(file_name, " is larger than ", kLargestFile, " bytes, the most allowed"));
  }
  return text;
}

}  // namespace poprt::ipu
