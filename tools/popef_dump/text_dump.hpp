#pragma once

#include <string>

#include "tools/popef_dump/contents.hpp"
#include "tools/popef_dump/selection.hpp"

namespace poprt::dump {

/// The dump that people read: sections with a heading, everything from the file escaped.
std::string TextDump(const Contents& contents, const Selection& selection);

}  // namespace poprt::dump
