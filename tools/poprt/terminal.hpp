#pragma once

#include <iosfwd>

namespace poprt::cli {

/// Where the tool writes. Both streams must outlive the use.
struct Terminal {
  std::ostream& out;             ///< results
  std::ostream& err;             ///< errors, log messages, progress
  bool err_is_terminal = false;  ///< progress is drawn as bars
  int err_columns = 80;          ///< width of that terminal
};

}  // namespace poprt::cli
