#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace poprt::display {

/// `text` as one line that a terminal shows as it is: control characters, line and direction marks
/// become \n, \r, \t, \xHH or \u{HHHH}, bytes that are not UTF-8 become \xHH, a backslash becomes
/// two. Two texts never become the same.
std::string Escape(std::string_view text);

/// As Escape, in double quotes, with \" for those inside.
std::string Quote(std::string_view text);

/// Characters of an escaped text.
std::size_t Width(std::string_view escaped);

}  // namespace poprt::display
