#pragma once

#include <string>

#include "compiler/ipu/plan/plan.hpp"

namespace poprt::ipu {

/// A plan as one page that a browser shows without network access: the document of
/// CompactReportJson with what draws it.
std::string ReportHtml(const Plan& plan);

}  // namespace poprt::ipu
