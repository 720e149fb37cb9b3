#pragma once

#include <string>

#include "tools/poprt/outcome.hpp"

namespace poprt::cli {

/// What is printed after success: a table of the graphs, what fusion saved, times and files.
std::string TextSummary(const Outcome& outcome);

}  // namespace poprt::cli
