#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tools/popef_bench/profile.hpp"

namespace poprt::bench {

/// Tables of the steps and of the kernels, the most expensive first.
std::string ProfileText(const Profile& profile);

nlohmann::ordered_json ProfileJson(const Profile& profile);

}  // namespace poprt::bench
