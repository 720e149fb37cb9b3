#pragma once

#include <string>

namespace poprt::cli {

/// All passes as an aligned table: name, stage, summary.
std::string PassTable();

/// {"passes": [{"name": ..., "stage": ..., "summary": ...}]}
std::string PassJson();

}  // namespace poprt::cli
