#include "poprt/logging.hpp"

#include <array>
#include <cstdlib>
#include <iostream>
#include <mutex>

namespace poprt::logging {
namespace {

constexpr std::array<std::string_view, 6> kNames{"TRACE", "DEBUG", "INFO", "WARN", "ERR", "OFF"};

Level Configured() {
  const char* name = std::getenv("POPRT_LOG_LEVEL");
  for (std::size_t i = 0; name != nullptr && i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<Level>(i);
  }
  return Level::Err;
}

}  // namespace

bool shouldLog(Level level) {
  static const Level least = Configured();
  return level >= least && level != Level::Off;
}

void log(Level level, const std::string& message) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  std::cerr << "[" << kNames[static_cast<std::size_t>(level)] << "] " << message << "\n";
}

}  // namespace poprt::logging
