#include "tests/conformance/runner/report.hpp"

#include <algorithm>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <ostream>

namespace poprt::conformance {
namespace {

struct GroupCount {
  int cases = 0;
  int passed = 0;       ///< solo, or folded where solo does not apply
  int folded_only = 0;  ///< of those, the ones that pass when folded only
  std::array<int, kModes> passed_in{};
  std::array<int, kModes> run_in{};
};

std::map<std::string, GroupCount> CountByGroup(const std::vector<CaseResult>& results) {
  std::map<std::string, GroupCount> groups;
  for (const CaseResult& result : results) {
    GroupCount& group = groups[result.name.substr(0, result.name.find('/'))];
    ++group.cases;
    group.passed += result.passed() ? 1 : 0;
    const bool is_solo = result.in(Mode::kSolo).verdict == Verdict::kPassed;
    group.folded_only += result.passed() && !is_solo ? 1 : 0;
    for (std::size_t mode = 0; mode < kModes; ++mode) {
      group.run_in[mode] += result.outcomes[mode].verdict != Verdict::kNotRun ? 1 : 0;
      group.passed_in[mode] += result.outcomes[mode].verdict == Verdict::kPassed ? 1 : 0;
    }
  }
  return groups;
}

std::string Fraction(int part, int whole) {
  return std::to_string(part) + "/" + std::to_string(whole);
}

void WriteGroups(const std::vector<CaseResult>& results, std::ostream& out) {
  out << std::left << std::setw(20) << "group" << std::right << std::setw(12) << "passed"
      << std::setw(14) << "folded only" << std::setw(12) << "solo" << std::setw(12) << "folded"
      << std::setw(12) << "fused" << '\n';
  for (const auto& [name, group] : CountByGroup(results)) {
    out << std::left << std::setw(20) << name << std::right << std::setw(12)
        << Fraction(group.passed, group.cases) << std::setw(14) << group.folded_only;
    for (std::size_t mode = 0; mode < kModes; ++mode) {
      out << std::setw(12) << Fraction(group.passed_in[mode], group.run_in[mode]);
    }
    out << '\n';
  }
}

void WriteOperators(const std::vector<CaseResult>& results, std::ostream& out) {
  out << '\n'
      << std::left << std::setw(40) << "operator" << std::right << std::setw(8) << "cases"
      << std::setw(8) << "solo" << std::setw(14) << "folded only" << std::setw(8) << "fused"
      << '\n';
  for (const auto& [name, count] : CountByOperator(results)) {
    out << std::left << std::setw(40) << name << std::right << std::setw(8) << count.cases
        << std::setw(8) << count.solo << std::setw(14) << count.folded << std::setw(8)
        << count.fused << '\n';
  }
}

void WriteReasons(const std::vector<CaseResult>& results, std::ostream& out) {
  for (const CaseResult& result : results) {
    for (std::size_t mode = 0; mode < kModes; ++mode) {
      const Outcome& outcome = result.outcomes[mode];
      if (outcome.verdict == Verdict::kPassed || outcome.verdict == Verdict::kNotRun) continue;
      out << result.name << " (" << kModeNames[mode] << ") "
          << kVerdictNames[static_cast<std::size_t>(outcome.verdict)] << ": " << outcome.reason
          << '\n';
    }
  }
}

}  // namespace

std::map<std::string, OperatorCount> CountByOperator(const std::vector<CaseResult>& results) {
  std::map<std::string, OperatorCount> counts;
  for (const CaseResult& result : results) {
    const bool solo = result.in(Mode::kSolo).verdict == Verdict::kPassed;
    for (const std::string& name : result.operators) {
      OperatorCount& count = counts[name];
      ++count.cases;
      count.solo += solo ? 1 : 0;
      count.folded += result.passed() && !solo ? 1 : 0;
      count.fused += result.in(Mode::kFused).verdict == Verdict::kPassed ? 1 : 0;
    }
  }
  return counts;
}

void WriteText(const std::vector<CaseResult>& results, std::ostream& out) {
  WriteReasons(results, out);
  WriteOperators(results, out);
  out << '\n';
  WriteGroups(results, out);
}

void WriteJson(const std::vector<CaseResult>& results, std::ostream& out) {
  nlohmann::ordered_json json;
  auto& cases = json["cases"] = nlohmann::ordered_json::array();
  for (const CaseResult& result : results) {
    auto& entry = cases.emplace_back();
    entry["name"] = result.name;
    entry["operators"] = result.operators;
    entry["frozen"] = result.frozen;
    for (std::size_t mode = 0; mode < kModes; ++mode) {
      const Outcome& outcome = result.outcomes[mode];
      entry[std::string(kModeNames[mode])] = {
          {"verdict", kVerdictNames[static_cast<std::size_t>(outcome.verdict)]},
          {"reason", outcome.reason}};
    }
  }
  for (const auto& [name, group] : CountByGroup(results)) {
    json["groups"][name] = {
        {"cases", group.cases}, {"passed", group.passed}, {"folded_only", group.folded_only}};
  }
  for (const auto& [name, count] : CountByOperator(results)) {
    json["operators"][name] = {{"cases", count.cases},
                               {"solo", count.solo},
                               {"folded_only", count.folded},
                               {"fused", count.fused}};
  }
  out << json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
}

void WriteOperatorCounts(const std::vector<CaseResult>& results, std::ostream& out) {
  for (const auto& [name, count] : CountByOperator(results)) {
    out << name << ' ' << count.solo + count.folded << ' ' << count.cases << '\n';
  }
}

}  // namespace poprt::conformance
