#pragma once

#include <nlohmann/json.hpp>

#include "tools/popef_dump/contents.hpp"
#include "tools/popef_dump/selection.hpp"

namespace poprt::dump {

/// The dump that programs read: the object of one file, as docs/cli.md describes it.
nlohmann::ordered_json JsonDump(const Contents& contents, const Selection& selection);

}  // namespace poprt::dump
