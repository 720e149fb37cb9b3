#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tools/popef_bench/measure_container.hpp"

namespace poprt::bench {

std::string ReportText(const ContainerReport& report, const BenchOptions& options);

nlohmann::ordered_json ReportJson(const ContainerReport& report, const BenchOptions& options);

}  // namespace poprt::bench
