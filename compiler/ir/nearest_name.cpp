#include "compiler/ir/nearest_name.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace poprt::ir {
namespace {

bool SameLetter(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

/// Levenshtein distance, one row of the table at a time.
std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (SameLetter(a[i - 1], b[j - 1]) ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::optional<std::string> NearestName(std::string_view wanted,
                                       std::span<const std::string> candidates) {
  const std::string* nearest = nullptr;
  std::size_t nearest_distance = 0;
  for (const std::string& candidate : candidates) {
    const std::size_t longest = std::max(wanted.size(), candidate.size());
    const std::size_t allowed = std::max<std::size_t>(longest / 3, 1);
    const std::size_t distance = EditDistance(wanted, candidate);
    if (distance > allowed || distance >= longest) continue;
    if (nearest != nullptr && distance >= nearest_distance) continue;
    nearest = &candidate;
    nearest_distance = distance;
  }
  if (nearest == nullptr) return std::nullopt;
  return *nearest;
}

}  // namespace poprt::ir
