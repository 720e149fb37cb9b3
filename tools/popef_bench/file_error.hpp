#pragma once

#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>

namespace poprt::bench {

/// "--trace: cannot write 'a/b': No such file or directory". The reason is that of errno, which the
/// caller has set to 0 before it opened the file.
inline std::runtime_error FileError(const std::string& option, const std::string& verb,
                                    const std::string& path) {
  const int error = errno != 0 ? errno : EIO;
  return std::runtime_error(option + ": cannot " + verb + " '" + path +
                            "': " + std::generic_category().message(error));
}

}  // namespace poprt::bench
