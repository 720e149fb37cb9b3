#include "runtime/popef/log.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <mutex>
#include <string_view>

namespace popef {
namespace {

constexpr std::array<std::string_view, 6> kNames = {"OFF", "ERR", "WARN", "INFO", "DEBUG", "TRACE"};

std::string_view Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

class Logger {
 public:
  Logger() {
    const std::string_view destination = Environment("POPEF_LOG_DEST");
    if (destination == "stdout") {
      out_ = &std::cout;
    } else if (!destination.empty() && destination != "stderr") {
      file_.open(std::string(destination), std::ios::app);
      if (file_) {
        out_ = &file_;
      } else {
        std::cerr << "popef: POPEF_LOG_DEST: cannot write " << destination << ", using stderr\n";
      }
    }
    const std::string_view level = Environment("POPEF_LOG_LEVEL");
    const auto* found = std::find(kNames.begin(), kNames.end(), level);
    if (found != kNames.end()) {
      level_ = static_cast<LogLevel>(found - kNames.begin());
    } else if (!level.empty()) {
      std::cerr << "popef: POPEF_LOG_LEVEL is " << level
                << ", allowed is OFF, ERR, WARN, INFO, DEBUG or TRACE\n";
    }
  }

  LogLevel level() const { return level_; }

  void Write(LogLevel level, const std::string& text) {
    const std::lock_guard lock(mutex_);
    *out_ << "[popef:" << kNames[static_cast<std::size_t>(level)] << "] " << text << std::endl;
  }

 private:
  std::mutex mutex_;
  std::ofstream file_;
  std::ostream* out_ = &std::cerr;
  LogLevel level_ = LogLevel::kOff;
};

Logger& TheLogger() {
  static Logger logger;
  return logger;
}

}  // namespace

bool IsLogged(LogLevel level) { return level <= TheLogger().level(); }

void Log(LogLevel level, const std::string& text) {
  if (IsLogged(level)) TheLogger().Write(level, text);
}

}  // namespace popef
