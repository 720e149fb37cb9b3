#include "compiler/frontend/import_time/utf8_case.hpp"

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/frontend/import_time/utf8.hpp"

namespace poprt::frontend {
namespace {

/// Capitals `first`, `first` + `step`, ... up to `last`, whose small letters come `distance` later.
struct Range {
  char32_t first;
  char32_t last;
  char32_t step;
  std::int32_t distance;
};

/// From Unicode's simple case mappings.
constexpr Range kRanges[] = {
    {'A', 'Z', 1, 32},        // ASCII
    {0xC0, 0xD6, 1, 32},      // Latin-1
    {0xD8, 0xDE, 1, 32},      //
    {0x100, 0x12E, 2, 1},     // Latin Extended-A
    {0x132, 0x136, 2, 1},     //
    {0x139, 0x147, 2, 1},     //
    {0x14A, 0x176, 2, 1},     //
    {0x178, 0x178, 1, -121},  //
    {0x179, 0x17D, 2, 1},     //
    {0x1CD, 0x1DB, 2, 1},     // Latin Extended-B
    {0x1DE, 0x1EE, 2, 1},     //
    {0x1F8, 0x21E, 2, 1},     //
    {0x222, 0x232, 2, 1},     //
    {0x386, 0x386, 1, 38},    // Greek
    {0x388, 0x38A, 1, 37},    //
    {0x38C, 0x38C, 1, 64},    //
    {0x38E, 0x38F, 1, 63},    //
    {0x391, 0x3A1, 1, 32},    //
    {0x3A3, 0x3AB, 1, 32},    //
    {0x400, 0x40F, 1, 80},    // Cyrillic
    {0x410, 0x42F, 1, 32},    //
    {0x460, 0x480, 2, 1},     //
    {0x48A, 0x4BE, 2, 1},     //
    {0x4C0, 0x4C0, 1, 15},    //
    {0x4C1, 0x4CD, 2, 1},     //
    {0x4D0, 0x52E, 2, 1},     //
    {0x531, 0x556, 1, 48},    // Armenian
    {0x1E00, 0x1E94, 2, 1},   // Latin Extended Additional
    {0x1EA0, 0x1EFE, 2, 1},   //
    {0xFF21, 0xFF3A, 1, 32},  // full-width Latin
};

char32_t Moved(char32_t character, std::int32_t distance) {
  return static_cast<char32_t>(static_cast<std::int32_t>(character) + distance);
}

char32_t Lower(char32_t character) {
  for (const Range& range : kRanges) {
    if (character < range.first || character > range.last) continue;
    if ((character - range.first) % range.step == 0) return Moved(character, range.distance);
  }
  return character;
}

char32_t Upper(char32_t character) {
  constexpr char32_t final_sigma = 0x3C2;
  constexpr char32_t capital_sigma = 0x3A3;
  if (character == final_sigma) return capital_sigma;
  for (const Range& range : kRanges) {
    const char32_t capital = Moved(character, -range.distance);
    if (capital < range.first || capital > range.last) continue;
    if ((capital - range.first) % range.step == 0) return capital;
  }
  return character;
}

template <typename Map>
std::string Mapped(std::string_view text, const Map& map) {
  std::string mapped;
  const std::optional<std::vector<char32_t>> characters = CharactersOf(text);
  if (characters) {
    for (const char32_t character : *characters) AppendUtf8(map(character), mapped);
    return mapped;
  }
  for (const char byte : text) {
    const auto code = static_cast<unsigned char>(byte);
    mapped.push_back(code < 0x80 ? static_cast<char>(map(code)) : byte);
  }
  return mapped;
}

}  // namespace

std::string LowerCase(std::string_view text) { return Mapped(text, Lower); }

std::string UpperCase(std::string_view text) { return Mapped(text, Upper); }

}  // namespace poprt::frontend
