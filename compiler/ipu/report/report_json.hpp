#pragma once

#include <string>

#include "compiler/ipu/plan/plan.hpp"

namespace poprt::ipu {

/// Version of the document that ReportJson writes: it grows when the meaning of a key changes.
inline constexpr int kReportSchema = 1;

/// Every figure of a plan as JSON, as docs/ipu_report.md describes; ends with a line feed. Lists of
/// like things are tables, {"columns": [...], "rows": [[...], ...]}, a row a line.
std::string ReportJson(const Plan& plan);

/// The same document without white space: what travels in a container.
std::string CompactReportJson(const Plan& plan);

}  // namespace poprt::ipu
