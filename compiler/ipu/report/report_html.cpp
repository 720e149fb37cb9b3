#include "compiler/ipu/report/report_html.hpp"

#include <cstddef>
#include <string_view>

#include "compiler/ipu/report/embedded_page.hpp"
#include "compiler/ipu/report/report_json.hpp"

namespace poprt::ipu {
namespace {

constexpr std::string_view kPlaceholder = "{{plan}}";

/// JSON that HTML has nothing to say about, so that no name of a model ends the script element. The
/// characters stand in strings only, where JSON takes them as escapes too.
std::string EscapeForScript(std::string_view json) {
  std::string escaped;
  for (const char character : json) {
    switch (character) {
      case '<':
        escaped += "\\u003c";
        break;
      case '>':
        escaped += "\\u003e";
        break;
      case '&':
        escaped += "\\u0026";
        break;
      default:
        escaped += character;
    }
  }
  return escaped;
}

}  // namespace

std::string ReportHtml(const Plan& plan) {
  std::string page(EmbeddedPage());
  const std::size_t place = page.find(kPlaceholder);
  return page.replace(place, kPlaceholder.size(), EscapeForScript(CompactReportJson(plan)));
}

}  // namespace poprt::ipu
