#pragma once

#include <string>
#include <vector>

#include "tools/poprt/terminal.hpp"

namespace poprt::cli {

/// The whole tool: reads the arguments (without the program's name), converts, compiles, writes and
/// reports. Returns the exit code; lets no exception escape.
int RunCommand(const std::vector<std::string>& arguments, const Terminal& terminal);

}  // namespace poprt::cli
