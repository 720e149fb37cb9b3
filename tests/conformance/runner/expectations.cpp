#include "tests/conformance/runner/expectations.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "absl/status/status.h"

namespace poprt::conformance {
namespace {

bool Matches(const std::string& pattern, const std::string& name) {
  if (!pattern.ends_with('*')) return pattern == name;
  return name.starts_with(pattern.substr(0, pattern.size() - 1));
}

std::string Rest(std::istringstream& words) {
  std::string rest;
  std::getline(words >> std::ws, rest);
  rest.resize(rest.find_last_not_of(" \t") + 1);
  return rest;
}

}  // namespace

absl::StatusOr<Expectations> Expectations::Read(const std::vector<std::string>& paths) {
  Expectations expectations;
  for (const std::string& path : paths) {
    if (absl::Status status = expectations.ReadFile(path); !status.ok()) return status;
  }
  return expectations;
}

absl::Status Expectations::ReadFile(const std::string& path) {
  std::ifstream file(path);
  if (!file) return absl::NotFoundError("cannot read '" + path + "'");
  std::string problems;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    line.resize(std::min(line.find('#'), line.size()));
    if (line.find_first_not_of(" \t") == std::string::npos) continue;
    const std::string problem = ReadLine(line);
    if (problem.empty()) continue;
    problems +=
        (problems.empty() ? "" : "\n") + path + ":" + std::to_string(number) + ": " + problem;
  }
  if (!problems.empty()) return absl::InvalidArgumentError(problems);
  return absl::OkStatus();
}

std::string Expectations::ReadLine(const std::string& line) {
  std::istringstream words(line);
  std::string kind;
  std::string pattern;
  words >> kind;
  if (kind == "tolerance") {
    Tolerance tolerance;
    words >> tolerance.rtol >> tolerance.atol >> pattern;
    if (!words || Rest(words).empty()) return "expected: tolerance RTOL ATOL CASE REASON";
    tolerances_.push_back({.pattern = pattern, .tolerance = tolerance});
    return "";
  }
  words >> pattern;
  const std::string reason = Rest(words);
  if (pattern.empty() || reason.empty()) return "expected: MODE CASE REASON";
  bool is_mode = false;
  for (std::size_t mode = 0; mode < kModes; ++mode) {
    if (kind != kModeNames[mode] && kind != "all") continue;
    is_mode = true;
    failures_.push_back({.mode = static_cast<Mode>(mode), .pattern = pattern, .reason = reason});
  }
  return is_mode ? ""
                 : "'" + kind + "' is no mode; allowed are solo, folded, fused, all, tolerance";
}

Tolerance Expectations::ToleranceOf(const std::string& name) const {
  for (const Tolerances& entry : tolerances_) {
    if (Matches(entry.pattern, name)) return entry.tolerance;
  }
  return {};
}

std::string Expectations::Failure(Mode mode, const std::string& name) const {
  for (const Failures& entry : failures_) {
    if (entry.mode == mode && Matches(entry.pattern, name)) return entry.reason;
  }
  return "";
}

std::vector<std::string> Expectations::Surprises(const std::vector<CaseResult>& results) const {
  std::vector<std::string> surprises;
  for (const CaseResult& result : results) {
    for (std::size_t i = 0; i < kModes; ++i) {
      const auto mode = static_cast<Mode>(i);
      const Outcome& outcome = result.in(mode);
      if (outcome.verdict == Verdict::kNotRun) continue;
      const std::string expected = Failure(mode, result.name);
      const std::string where = result.name + " (" + std::string(kModeNames[i]) + ")";
      if (outcome.verdict == Verdict::kPassed && !expected.empty()) {
        surprises.push_back(where + " passes, but is listed as failing: " + expected);
      } else if (outcome.verdict != Verdict::kPassed && expected.empty()) {
        surprises.push_back(where + " " +
                            std::string(kVerdictNames[static_cast<std::size_t>(outcome.verdict)]) +
                            ": " + outcome.reason);
      }
    }
  }
  return surprises;
}

}  // namespace poprt::conformance
