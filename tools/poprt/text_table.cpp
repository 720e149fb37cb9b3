#include "tools/poprt/text_table.hpp"

#include <algorithm>
#include <array>

#include "absl/strings/str_format.h"

namespace poprt::cli {

std::string TextTable(const std::vector<std::vector<std::string>>& rows, std::size_t first_number) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string fill(widths[i] - row[i].size(), ' ');
      line += (i > 0 ? "  " : "") + (i < first_number ? row[i] + fill : fill + row[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string BytesText(std::uint64_t bytes) {
  if (bytes < 1024) return absl::StrFormat("%d B", bytes);
  constexpr std::array<const char*, 4> units = {"KiB", "MiB", "GiB", "TiB"};
  double size = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; size >= 1024 && unit + 1 < units.size(); ++unit) size /= 1024;
  return absl::StrFormat("%.1f %s", size, units[unit]);
}

std::string SecondsText(double seconds) {
  if (seconds >= 1) return absl::StrFormat("%.3f s", seconds);
  const double milliseconds = seconds * 1000;
  return absl::StrFormat(milliseconds >= 1 ? "%.1f ms" : "%.3f ms", milliseconds);
}

}  // namespace poprt::cli
