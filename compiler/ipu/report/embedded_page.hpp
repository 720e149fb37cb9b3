#pragma once

#include <string_view>

namespace poprt::ipu {

/// page/report.html.in with the style and the scripts beside it in it, put into the compiler by the
/// build.
/// "{{plan}}" stands where the plan belongs, once.
std::string_view EmbeddedPage();

}  // namespace poprt::ipu
