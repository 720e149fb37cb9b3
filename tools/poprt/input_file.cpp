#include "tools/poprt/input_file.hpp"

#include <system_error>

#include "absl/strings/str_cat.h"

namespace poprt::cli {

namespace fs = std::filesystem;

bool FileExists(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error) && !fs::is_directory(path, error);
}

std::string WhyNoFile(const fs::path& path, std::string_view example, std::string_view role) {
  const std::string name = absl::StrCat("'", path.string(), "'", std::string(role));
  std::error_code error;
  if (!fs::is_directory(path, error)) return absl::StrCat("there is no file ", name);
  return absl::StrCat(name, " is a folder; give a file in it, e.g. '",
                      (path / example).lexically_normal().string(), "'");
}

}  // namespace poprt::cli
