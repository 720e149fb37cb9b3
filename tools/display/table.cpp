#include "tools/display/table.hpp"

#include <algorithm>

#include "tools/display/escape.hpp"

namespace poprt::display {

std::string TableText(const std::vector<Column>& columns,
                      const std::vector<std::vector<std::string>>& rows,
                      const std::string& indent) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    widths.push_back(Width(columns[i].heading));
    for (const auto& row : rows) widths[i] = std::max(widths[i], Width(row[i]));
  }
  std::string text;
  const auto add_line = [&](const auto& cell_of) {
    std::string line = indent;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string& cell = cell_of(i);
      const std::string fill(widths[i] - Width(cell), ' ');
      line += (i > 0 ? "  " : "") + (columns[i].side == Side::kLeft ? cell + fill : fill + cell);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  add_line([&](std::size_t i) -> const std::string& { return columns[i].heading; });
  for (const auto& row : rows) {
    add_line([&](std::size_t i) -> const std::string& { return row[i]; });
  }
  return text;
}

}  // namespace poprt::display
