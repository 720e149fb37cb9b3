#include "tools/poprt/logging.hpp"

#include <algorithm>
#include <array>
#include <ostream>

namespace poprt::cli {
namespace {

struct LevelName {
  std::string_view option;
  std::string_view prefix;
};

// Indexed by LogLevel.
constexpr std::array<LevelName, 5> kLevels = {{{"DEBUG", "debug"},
                                               {"INFO", "info"},
                                               {"WARNING", "warning"},
                                               {"ERROR", "error"},
                                               {"CRITICAL", "critical"}}};

}  // namespace

std::optional<LogLevel> ParseLogLevel(std::string_view name) {
  const auto* const found = std::ranges::find(kLevels, name, &LevelName::option);
  if (found == kLevels.end()) return std::nullopt;
  return static_cast<LogLevel>(found - kLevels.begin());
}

Logger::Logger(std::ostream& out, LogLevel threshold, ProgressBar* bar)
    : out_(out), threshold_(threshold), bar_(bar) {}

void Logger::Write(LogLevel level, const std::string& message) {
  if (level < threshold_) return;
  if (bar_ != nullptr) bar_->MakeRoom();
  out_ << kLevels[static_cast<std::size_t>(level)].prefix << ": " << message << '\n';
  out_.flush();
}

void WriteError(std::ostream& out, std::string_view message) {
  while (!message.empty()) {
    const std::size_t end = std::min(message.find('\n'), message.size());
    const std::string_view line = message.substr(0, end);
    if (!line.empty()) out << (line.front() == ' ' ? "" : "error: ") << line << '\n';
    message.remove_prefix(std::min(end + 1, message.size()));
  }
  out.flush();
}

}  // namespace poprt::cli
