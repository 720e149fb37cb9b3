#pragma once

#include <cstddef>
#include <sstream>
#include <string>
#include <string_view>

/// Messages of programs that use poprt, on stderr. POPRT_LOG_LEVEL says which: TRACE, DEBUG, INFO,
/// WARN, ERR (the default) or OFF.
namespace poprt::logging {

enum class Level { Trace = 0, Debug = 1, Info = 2, Warn = 3, Err = 4, Off = 5 };

/// Whether messages of that level are written.
bool shouldLog(Level level);

/// Writes one line. Thread-safe.
void log(Level level, const std::string& message);

/// `text` with the value in the place of its first "{}", whatever stands between the braces; the
/// rest of the text stays in `text`. Without a place the value is left out.
template <typename Value>
void formatOne(std::string_view& text, const Value& value, std::ostream& out) {
  const std::size_t open = text.find('{');
  const std::size_t close = open == std::string_view::npos ? open : text.find('}', open);
  if (close == std::string_view::npos) return;
  out << text.substr(0, open) << value;
  text.remove_prefix(close + 1);
}

/// `text` with the values in the places of its "{}".
template <typename... Values>
std::string format(std::string_view text, const Values&... values) {
  std::ostringstream out;
  (formatOne(text, values, out), ...);
  out << text;
  return out.str();
}

template <typename... Values>
void trace(std::string_view text, const Values&... values) {
  if (shouldLog(Level::Trace)) log(Level::Trace, format(text, values...));
}
template <typename... Values>
void debug(std::string_view text, const Values&... values) {
  if (shouldLog(Level::Debug)) log(Level::Debug, format(text, values...));
}
template <typename... Values>
void info(std::string_view text, const Values&... values) {
  if (shouldLog(Level::Info)) log(Level::Info, format(text, values...));
}
template <typename... Values>
void warn(std::string_view text, const Values&... values) {
  if (shouldLog(Level::Warn)) log(Level::Warn, format(text, values...));
}
template <typename... Values>
void err(std::string_view text, const Values&... values) {
  if (shouldLog(Level::Err)) log(Level::Err, format(text, values...));
}

}  // namespace poprt::logging
