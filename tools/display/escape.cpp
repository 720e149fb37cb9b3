#include "tools/display/escape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace poprt::display {
namespace {

struct Character {
  char32_t point;
  std::size_t bytes;
};

/// The first character of a text that is not empty; nothing if it is not UTF-8.
std::optional<Character> Decode(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return Character{lead, 1};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return std::nullopt;
  char32_t point = lead & (0x7FU >> bytes);
  for (const char byte : text.substr(1, bytes - 1)) {
    const auto next = static_cast<unsigned char>(byte);
    if ((next & 0xC0U) != 0x80) return std::nullopt;
    point = (point << 6U) | (next & 0x3FU);
  }
  constexpr std::array<char32_t, 5> smallest{0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = point >= 0xD800 && point <= 0xDFFF;
  if (point < smallest[bytes] || point > 0x10FFFF || surrogate) return std::nullopt;
  return Character{point, bytes};
}

/// Controls, invisible characters and those that change the direction or break the line.
bool IsHidden(char32_t point) {
  struct Range {
    char32_t first;
    char32_t last;
  };
  constexpr std::array<Range, 9> hidden{{{0, 0x1F},
                                         {0x7F, 0x9F},
                                         {0x61C, 0x61C},
                                         {0x200B, 0x200F},
                                         {0x2028, 0x202E},
                                         {0x2060, 0x206F},
                                         {0xFEFF, 0xFEFF},
                                         {0xFFF9, 0xFFFB},
                                         {0xE0000, 0xE0FFF}}};
  return std::any_of(hidden.begin(), hidden.end(),
                     [&](Range range) { return point >= range.first && point <= range.last; });
}

std::string EscapeHidden(char32_t point) {
  if (point == U'\n') return "\\n";
  if (point == U'\r') return "\\r";
  if (point == U'\t') return "\\t";
  const auto number = static_cast<std::uint32_t>(point);
  return number < 0x80 ? fmt::format("\\x{:02X}", number) : fmt::format("\\u{{{:X}}}", number);
}

}  // namespace

std::string Escape(std::string_view text) {
  std::string escaped;
  while (!text.empty()) {
    const std::optional<Character> next = Decode(text);
    if (!next.has_value()) {
      escaped += fmt::format("\\x{:02X}", static_cast<unsigned char>(text[0]));
    } else if (IsHidden(next->point)) {
      escaped += EscapeHidden(next->point);
    } else if (next->point == U'\\') {
      escaped += "\\\\";
    } else {
      escaped += text.substr(0, next->bytes);
    }
    text.remove_prefix(next.has_value() ? next->bytes : 1);
  }
  return escaped;
}

std::string Quote(std::string_view text) {
  std::string quoted = "\"";
  for (const char character : Escape(text)) {
    if (character == '"') quoted += '\\';
    quoted += character;
  }
  return quoted + "\"";
}

std::size_t Width(std::string_view escaped) {
  return static_cast<std::size_t>(std::count_if(escaped.begin(), escaped.end(), [](char character) {
    return (static_cast<unsigned char>(character) & 0xC0U) != 0x80;
  }));
}

}  // namespace poprt::display
