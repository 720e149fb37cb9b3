#pragma once

#include <string>

namespace popef {

enum class LogLevel { kOff, kError, kWarning, kInfo, kDebug, kTrace };

/// True if POPEF_LOG_LEVEL (OFF ERR WARN INFO DEBUG TRACE, default OFF) lets this level through.
/// The environment is read once.
bool IsLogged(LogLevel level);

/// Writes one line "[popef:LEVEL] TEXT" to POPEF_LOG_DEST: stdout, stderr (default) or a file to
/// append to. Thread-safe. Does nothing if the level is not let through.
void Log(LogLevel level, const std::string& text);

}  // namespace popef
