#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace poprt::cli {

/// True if there is a file, which a folder is not.
bool FileExists(const std::filesystem::path& path);

/// Why `path` is not that of a file: "there is no file 'a'" or, for a folder, what to give instead,
/// with `example` as the name of a file in it. `role` follows the path, e.g. " for input 'x'".
std::string WhyNoFile(const std::filesystem::path& path, std::string_view example,
                      std::string_view role = "");

}  // namespace poprt::cli
