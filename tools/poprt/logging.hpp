#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

#include "tools/poprt/progress_bar.hpp"

namespace poprt::cli {

enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarning, kError, kCritical };

/// "DEBUG" ... "CRITICAL".
std::optional<LogLevel> ParseLogLevel(std::string_view name);

/// Writes messages as lines "warning: <message>" to a stream, leaving out those below a level. Not
/// thread safe.
class Logger {
 public:
  /// `out` and `bar` must outlive the logger; `bar` may be null.
  Logger(std::ostream& out, LogLevel threshold, ProgressBar* bar);

  void Debug(const std::string& message) { Write(LogLevel::kDebug, message); }
  void Info(const std::string& message) { Write(LogLevel::kInfo, message); }
  void Warning(const std::string& message) { Write(LogLevel::kWarning, message); }

 private:
  void Write(LogLevel level, const std::string& message);

  std::ostream& out_;
  LogLevel threshold_;
  ProgressBar* bar_;
};

/// Writes each line of `message` that does not start with a blank as "error: <line>", the others as
/// they are: they continue the line before. Errors end the program and are written at every level.
void WriteError(std::ostream& out, std::string_view message);

}  // namespace poprt::cli
