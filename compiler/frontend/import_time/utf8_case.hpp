#pragma once

#include <string>
#include <string_view>

namespace poprt::frontend {

/// The text with every letter of the Latin, Greek, Cyrillic and Armenian scripts that has a single
/// counterpart in the other case replaced by it; everything else stays as it is. Whatever the
/// locale. In text that is not valid UTF-8 only ASCII letters change.
std::string LowerCase(std::string_view text);
std::string UpperCase(std::string_view text);

}  // namespace poprt::frontend
