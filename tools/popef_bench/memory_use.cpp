#include "tools/popef_bench/memory_use.hpp"

#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace poprt::bench {
namespace {

constexpr std::uint64_t kBytesPerUnit = 1024;  // "kB" in /proc

/// "Rss:   12 kB" in bytes; 0 for another field.
std::uint64_t Field(const std::string& line, const std::string& name) {
  if (!line.starts_with(name + ":")) return 0;
  std::istringstream rest(line.substr(name.size() + 1));
  std::uint64_t value = 0;
  rest >> value;
  return value * kBytesPerUnit;
}

std::ifstream Open(const char* path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(std::string("cannot read ") + path);
  return file;
}

/// The file of a mapping, if `line` is the first one of a mapping: address, permissions, offset,
/// device, inode, path.
bool StartsMapping(const std::string& line, std::string& path) {
  const std::size_t dash = line.find('-');
  if (dash == std::string::npos || std::isxdigit(static_cast<unsigned char>(line[0])) == 0 ||
      line.find(':') < line.find(' ')) {
    return false;
  }
  std::istringstream rest(line);
  std::string skipped;
  for (int i = 0; i < 5; ++i) rest >> skipped;
  std::getline(rest >> std::ws, path);
  return true;
}

}  // namespace

MemoryUse CurrentMemoryUse(const std::string& container) {
  MemoryUse use;
  std::string line;
  for (std::ifstream file = Open("/proc/self/smaps_rollup"); std::getline(file, line);) {
    use.resident += Field(line, "Rss");
    use.proportional += Field(line, "Pss");
    use.anonymous += Field(line, "Anonymous");
  }
  const std::string wanted = std::filesystem::weakly_canonical(container).string();
  std::string path;
  for (std::ifstream file = Open("/proc/self/smaps"); std::getline(file, line);) {
    if (StartsMapping(line, path) || path != wanted) continue;
    use.container += Field(line, "Rss");
    use.container_proportional += Field(line, "Pss");
  }
  return use;
}

}  // namespace poprt::bench
