#include "tools/popef_bench/chrome_trace.hpp"

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

#include "tools/popef_bench/operand_text.hpp"

namespace poprt::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kNanosecondsPerMicrosecond = 1e3;

/// A row of its own for each stage of a pipeline.
Json NameOfRow(const Profile& profile, std::uint32_t stage, std::size_t row) {
  const bool is_pipeline = profile.branch->NumStages() > 1;
  const std::string name =
      profile.branch->name + (is_pipeline ? ", stage " + std::to_string(stage) : "");
  return {
      {"name", "thread_name"}, {"ph", "M"}, {"pid", 1}, {"tid", row}, {"args", {{"name", name}}}};
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
  std::size_t first_row = 0;
  for (const Profile& profile : profiles) {
    const std::uint32_t stages = profile.branch->NumStages();
    for (std::uint32_t s = 0; s < stages; ++s) {
      events.push_back(NameOfRow(profile, s, first_row + s));
    }
    for (const StepEvent& event : profile.events) {
      events.push_back(Complete(profile, event, first_row + event.stage));
    }
    first_row += stages;
  }
  out << Json{{"traceEvents", std::move(events)}, {"displayTimeUnit", "ns"}}.dump(
             1, ' ', true, Json::error_handler_t::replace)
      << "\n";
}

}  // namespace poprt::bench
