#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace poprt::cli {

/// Rows of cells, the first row being the heading, as lines with aligned columns. Columns from
/// `first_number` on are aligned to the right. No blanks at the ends of lines.
std::string TextTable(const std::vector<std::vector<std::string>>& rows, std::size_t first_number);

/// "512 B", "3.4 KiB", "97.5 MiB".
std::string BytesText(std::uint64_t bytes);

/// "1.234 s", "12.3 ms", "0.012 ms".
std::string SecondsText(double seconds);

}  // namespace poprt::cli
