#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace poprt::bench {

/// The whole tool. `arguments` are those after the program's name. The report goes to `out`, errors
/// to `err`, a line each. Returns the exit code: 0 done, 1 the container or a file of the request
/// is wrong, 2 wrong usage, 3 an internal error.
int RunCommand(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace poprt::bench
