#include "tools/popef_bench/profile_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "tools/display/escape.hpp"
#include "tools/display/table.hpp"
#include "tools/popef_bench/operand_text.hpp"

namespace poprt::bench {
namespace {

using display::Side;
using Json = nlohmann::ordered_json;

/// Steps that run the same kernel; times in microseconds of one run.
struct KernelProfile {
  std::string_view kernel;
  std::size_t steps = 0;
  std::size_t calls = 0;
  double median = 0;
  double least = 0;
  double bytes = 0;
  std::optional<double> operations;
};

template <typename Item>
void SortByTime(std::vector<Item>& items) {
  std::ranges::stable_sort(items, std::ranges::greater(), &Item::median);
}

std::vector<KernelProfile> ByKernel(const Profile& profile) {
  std::map<std::string_view, KernelProfile> kernels;
  for (const StepProfile& step : profile.steps) {
    KernelProfile& kernel = kernels[step.step->kernel];
    kernel.kernel = step.step->kernel;
    ++kernel.steps;
    kernel.calls += step.calls;
    kernel.median += step.median;
    kernel.least += step.least;
    kernel.bytes += step.bytes;
    if (step.operations) {
      kernel.operations = kernel.operations.value_or(0) + *step.operations;
    }
  }
  std::vector<KernelProfile> result;
  for (const auto& [name, kernel] : kernels) result.push_back(kernel);
  SortByTime(result);
  return result;
}

double StepTime(const Profile& profile) {
  double sum = 0;
  for (const StepProfile& step : profile.steps) sum += step.median;
  return sum;
}

double Share(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

/// Billions a second; 0 for what took no time that the clock shows.
double Rate(double count, double microseconds) {
  return microseconds > 0 ? count / microseconds / 1e3 : 0;
}

using Row = std::vector<std::string>;

/// Cells that steps and kernels have in common.
template <typename Item>
Row TimeCells(const Item& item, double all) {
  return {fmt::format("{:.1f}", Share(item.median, all)),
          fmt::format("{:.1f}", item.median),
          fmt::format("{:.1f}", item.least),
          item.operations ? fmt::format("{:.1f}", Rate(*item.operations, item.median)) : "",
          fmt::format("{:.1f}", Rate(item.bytes, item.median)),
          std::to_string(item.calls)};
}

const std::vector<display::Column> kTimeColumns{{"%", Side::kRight},      {"us", Side::kRight},
                                                {"min us", Side::kRight}, {"GFLOP/s", Side::kRight},
                                                {"GB/s", Side::kRight},   {"calls", Side::kRight}};

std::vector<display::Column> Columns(std::initializer_list<display::Column> more) {
  std::vector<display::Column> columns = kTimeColumns;
  columns.insert(columns.end(), more);
  return columns;
}

bool IsPipeline(const Profile& profile) { return profile.branch->NumStages() > 1; }

/// Times of the stages of a pipeline; empty without one.
std::string StageTable(const Profile& profile, double all) {
  if (!IsPipeline(profile)) return "";
  std::vector<std::pair<std::size_t, double>> stages(profile.branch->NumStages());
  for (const StepProfile& step : profile.steps) {
    ++stages[step.stage].first;
    stages[step.stage].second += step.median;
  }
  std::vector<Row> rows;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const auto& [steps, time] = stages[s];
    rows.push_back({fmt::format("{:.1f}", Share(time, all)), fmt::format("{:.1f}", time),
                    std::to_string(steps), std::to_string(s)});
  }
  return "Stages:\n" +
         display::TableText({{"%", Side::kRight},
                             {"us", Side::kRight},
                             {"steps", Side::kRight},
                             {"stage", Side::kRight}},
                            rows, "  ") +
         "\n";
}

std::string StepTable(const Profile& profile, double all) {
  std::vector<StepProfile> steps = profile.steps;
  SortByTime(steps);
  std::vector<Row> rows;
  for (const StepProfile& step : steps) {
    Row& row = rows.emplace_back(TimeCells(step, all));
    row.push_back(std::to_string(step.position));
    row.push_back(display::Escape(step.step->kernel));
    row.push_back(display::Escape(step.step->name));
    row.push_back(OperandText(*profile.branch, *step.step));
  }
  return display::TableText(Columns({{"#", Side::kRight}, {"kernel"}, {"step"}, {"operands"}}),
                            rows, "  ");
}

std::string KernelTable(const Profile& profile, double all) {
  std::vector<Row> rows;
  for (const KernelProfile& kernel : ByKernel(profile)) {
    Row& row = rows.emplace_back(TimeCells(kernel, all));
    row.push_back(std::to_string(kernel.steps));
    row.push_back(display::Escape(kernel.kernel));
  }
  return display::TableText(Columns({{"steps", Side::kRight}, {"kernel"}}), rows, "  ");
}

template <typename Item>
void AddTimes(const Item& item, double all, Json& json) {
  json["calls"] = item.calls;
  json["us"] = item.median;
  json["min_us"] = item.least;
  json["percent"] = Share(item.median, all);
  json["bytes"] = item.bytes;
  json["gb_per_s"] = Rate(item.bytes, item.median);
  json["operations"] = item.operations ? Json(*item.operations) : Json();
  json["gflop_per_s"] = item.operations ? Json(Rate(*item.operations, item.median)) : Json();
}

}  // namespace

std::string ProfileText(const Profile& profile) {
  const double all = StepTime(profile);
  return fmt::format(
      "{}: {} runs, {:.3f} ms a run (median; least {:.3f} ms), {:.3f} ms in steps\n\n"
      "{}Kernels:\n{}\nSteps:\n{}",
      display::Escape(profile.branch->name), profile.runs, profile.median / 1e3,
      profile.least / 1e3, all / 1e3, StageTable(profile, all), KernelTable(profile, all),
      StepTable(profile, all));
}

Json ProfileJson(const Profile& profile) {
  const double all = StepTime(profile);
  Json json{{"graph", profile.branch->name}, {"runs", profile.runs}, {"run_us", profile.median},
            {"min_run_us", profile.least},   {"steps_us", all},      {"kernels", Json::array()},
            {"steps", Json::array()}};
  for (const KernelProfile& kernel : ByKernel(profile)) {
    Json& entry =
        json["kernels"].emplace_back(Json{{"kernel", kernel.kernel}, {"steps", kernel.steps}});
    AddTimes(kernel, all, entry);
  }
  for (const StepProfile& step : profile.steps) {
    Json& entry =
        json["steps"].emplace_back(Json{{"position", step.position},
                                        {"name", step.step->name},
                                        {"kernel", step.step->kernel},
                                        {"stage", step.stage},
                                        {"operands", OperandText(*profile.branch, *step.step)}});
    AddTimes(step, all, entry);
  }
  return json;
}

}  // namespace poprt::bench
