#include "compiler/frontend/import_time/utf8.hpp"

#include <cstddef>

namespace poprt::frontend {
namespace {

bool IsCharacter(char32_t character) {
  return character <= 0x10FFFF && (character < 0xD800 || character > 0xDFFF);
}

}  // namespace

bool AppendUtf8(char32_t character, std::string& text) {
  if (!IsCharacter(character)) return false;
  const auto push = [&](char32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (character < 0x80) {
    push(character);
  } else if (character < 0x800) {
    push(0xC0 | (character >> 6));
    push(0x80 | (character & 0x3F));
  } else if (character < 0x10000) {
    push(0xE0 | (character >> 12));
    push(0x80 | ((character >> 6) & 0x3F));
    push(0x80 | (character & 0x3F));
  } else {
    push(0xF0 | (character >> 18));
    push(0x80 | ((character >> 12) & 0x3F));
    push(0x80 | ((character >> 6) & 0x3F));
    push(0x80 | (character & 0x3F));
  }
  return true;
}

std::optional<std::vector<char32_t>> CharactersOf(std::string_view text) {
  // The smallest character that needs as many more bytes: longer forms of smaller ones are invalid.
  static constexpr char32_t smallest[] = {0, 0x80, 0x800, 0x10000};
  std::vector<char32_t> characters;
  for (std::size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i++]);
    const int more = first < 0x80             ? 0
                     : (first & 0xE0) == 0xC0 ? 1
                     : (first & 0xF0) == 0xE0 ? 2
                     : (first & 0xF8) == 0xF0 ? 3
                                              : -1;
    if (more < 0) return std::nullopt;
    char32_t character = more == 0 ? first : first & (0x3FU >> more);
    for (int k = 0; k < more; ++k) {
      if (i == text.size()) return std::nullopt;
      const auto next = static_cast<unsigned char>(text[i++]);
      if ((next & 0xC0) != 0x80) return std::nullopt;
      character = (character << 6) | (next & 0x3FU);
    }
    if (character < smallest[more] || !IsCharacter(character)) return std::nullopt;
    characters.push_back(character);
  }
  return characters;
}

}  // namespace poprt::frontend
