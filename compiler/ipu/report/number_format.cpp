#include "compiler/ipu/report/number_format.hpp"

#include <cmath>
#include <cstddef>

#include "absl/strings/str_format.h"

namespace poprt::ipu {
namespace {

/// Puts a comma before every third digit from the right of `digits`, which has digits only.
std::string Group(std::string_view digits) {
  std::string grouped;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) grouped += ',';
    grouped += digits[i];
  }
  return grouped;
}

/// Bytes of the UTF-8 character that `text` starts with; 0 if it starts with none.
std::size_t CharacterBytes(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return 1;
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return 0;
  for (const char next : text.substr(1, bytes - 1)) {
    if ((static_cast<unsigned char>(next) & 0xC0U) != 0x80) return 0;
  }
  return bytes;
}

bool IsControl(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return lead < 0x20 || lead == 0x7F;
  // U+0080 to U+009F, and the line and paragraph separators U+2028 and U+2029.
  return (lead == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0) ||
         character == "\xE2\x80\xA8" || character == "\xE2\x80\xA9";
}

}  // namespace

std::string Grouped(std::uint64_t number) { return Group(std::to_string(number)); }

std::string GroupedFixed(double number, int decimals) {
  if (!std::isfinite(number) || number < 0) number = 0;
  const std::string text = absl::StrFormat("%.*f", decimals, number);
  const std::size_t point = text.find('.');
  if (point == std::string::npos) return Group(text);
  return Group(std::string_view(text).substr(0, point)) + text.substr(point);
}

std::string Percent(double part, double whole) {
  return GroupedFixed(whole > 0 ? 100 * part / whole : 0, 1) + "%";
}

std::string OneLine(std::string_view name) {
  std::string line;
  while (!name.empty()) {
    const std::size_t bytes = CharacterBytes(name);
    const std::string_view character = name.substr(0, bytes == 0 ? 1 : bytes);
    if (bytes == 0 || IsControl(character)) {
      for (const char byte : character) {
        line += absl::StrFormat("\\x%02X", static_cast<unsigned char>(byte));
      }
    } else {
      line += character;
    }
    name.remove_prefix(character.size());
  }
  return line;
}

}  // namespace poprt::ipu
