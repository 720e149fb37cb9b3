#pragma once

#include <string>
#include <vector>

namespace poprt::display {

enum class Side { kLeft, kRight };

struct Column {
  std::string heading;
  Side side = Side::kLeft;
};

/// A heading and rows of escaped cells as lines that start with `indent`, columns two blanks apart,
/// no blanks at the ends of lines. Every row has one cell for each column.
std::string TableText(const std::vector<Column>& columns,
                      const std::vector<std::vector<std::string>>& rows, const std::string& indent);

}  // namespace poprt::display
