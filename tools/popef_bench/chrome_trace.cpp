#include "tools/popef_bench/chrome_trace.hpp"

#include <nlohmann/json.hpp>
#include <ostream>

#include "tools/popef_bench/operand_text.hpp"

namespace poprt::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kNanosecondsPerMicrosecond = 1e3;

Json NameOfRow(const Profile& profile, std::size_t row) {
  return {{"name", "thread_name"},
          {"ph", "M"},
          {"pid", 1},
          {"tid", row},
          {"args", {{"name", profile.branch->name}}}};
}

Json Complete(const Profile& profile, const StepEvent& event, std::size_t row) {
  const program::Step& step = *event.step;
  return {{"name", step.name.empty() ? step.kernel : step.name},
          {"cat", step.kernel},
          {"ph", "X"},
          {"pid", 1},
          {"tid", row},
          {"ts", static_cast<double>(event.begin) / kNanosecondsPerMicrosecond},
          {"dur", static_cast<double>(event.end - event.begin) / kNanosecondsPerMicrosecond},
          {"args", {{"kernel", step.kernel}, {"operands", OperandText(*profile.branch, step)}}}};
}

}  // namespace

void WriteChromeTrace(std::span<const Profile> profiles, std::ostream& out) {
  Json events = Json::array();
  for (std::size_t row = 0; row < profiles.size(); ++row) {
    events.push_back(NameOfRow(profiles[row], row));
    for (const StepEvent& event : profiles[row].events) {
      events.push_back(Complete(profiles[row], event, row));
    }
  }
  out << Json{{"traceEvents", std::move(events)}, {"displayTimeUnit", "ns"}}.dump(
             1, ' ', true, Json::error_handler_t::replace)
      << "\n";
}

}  // namespace poprt::bench
