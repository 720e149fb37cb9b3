#include "tools/poprt/words.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"

namespace poprt::cli {

std::optional<std::int64_t> ParseInteger(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<double> ParseNumber(std::string_view text) {
  double number = 0;
  if (!absl::SimpleAtod(absl::string_view(text.data(), text.size()), &number)) return std::nullopt;
  if (!std::isfinite(number)) return std::nullopt;
  return number;
}

std::optional<bool> ParseBool(std::string_view text) {
  const std::string lower = absl::AsciiStrToLower(absl::string_view(text.data(), text.size()));
  for (const std::string_view yes : {"true", "yes", "on"}) {
    if (lower == yes) return true;
  }
  for (const std::string_view no : {"false", "no", "off"}) {
    if (lower == no) return false;
  }
  return std::nullopt;
}

std::optional<std::pair<std::string, Shape>> ParseNamedShape(std::string_view text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string_view::npos || equals == 0) return std::nullopt;
  Shape shape;
  std::string_view rest = text.substr(equals + 1);
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const absl::string_view digits =
        absl::StripAsciiWhitespace(absl::string_view(rest.data(), comma));
    const std::optional<std::int64_t> extent =
        ParseInteger(std::string_view(digits.data(), digits.size()));
    const bool ends_in_comma = comma + 1 == rest.size();
    if (!extent || *extent < 0 || ends_in_comma) return std::nullopt;
    shape.push_back(*extent);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return std::pair(std::string(text.substr(0, equals)), std::move(shape));
}

bool IsGraphName(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.';
  });
}

std::pair<std::string, std::string> ParseNamedPath(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || !IsGraphName(text.substr(0, equals))) {
    return {"", std::string(text)};
  }
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

}  // namespace poprt::cli
