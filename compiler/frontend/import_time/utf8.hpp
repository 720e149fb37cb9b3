#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace poprt::frontend {

/// Appends the character in UTF-8. False, with nothing appended, for numbers that are no character
/// (surrogates and what is beyond U+10FFFF).
bool AppendUtf8(char32_t character, std::string& text);

/// The characters of a text in UTF-8, or nothing if it is not valid UTF-8.
std::optional<std::vector<char32_t>> CharactersOf(std::string_view text);

}  // namespace poprt::frontend
