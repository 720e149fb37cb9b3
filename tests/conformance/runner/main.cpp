// Runs an ONNX backend suite in three modes and reports what passed.
#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/conformance/runner/case_data.hpp"
#include "tests/conformance/runner/expectations.hpp"
#include "tests/conformance/runner/report.hpp"
#include "tests/conformance/runner/run_case.hpp"
#include "tests/conformance/runner/suite.hpp"

namespace poprt::conformance {
namespace {

struct Settings {
  std::string folder = POPRT_GENERATED_SUITE;
  std::string filter;
  std::vector<std::string> expectations;
  std::string json;
  std::string operator_counts;
  std::size_t pack = 16;
  std::vector<std::string> modes = {kModeNames.begin(), kModeNames.end()};
  bool progress = false;

  bool runs(Mode mode) const {
    return std::find(modes.begin(), modes.end(), kModeNames[static_cast<std::size_t>(mode)]) !=
           modes.end();
  }
};

/// Cases that passed alone, until there are enough of them for one container.
class FusedPack {
 public:
  FusedPack(std::size_t size, std::vector<CaseResult>& results) : size_(size), results_(results) {}

  void Add(std::size_t result, CaseData data, SoloRun solo) {
    members_.push_back({.result = result, .data = std::move(data), .solo = std::move(solo)});
    if (members_.size() == size_) Run();
  }

  void Run() {
    if (members_.empty()) return;
    std::vector<FusedCase> cases;
    for (const Member& member : members_) cases.push_back({&member.data, &member.solo});
    const std::vector<Outcome> outcomes = RunFused(cases);
    for (std::size_t i = 0; i < members_.size(); ++i) {
      results_[members_[i].result].in(Mode::kFused) = outcomes[i];
    }
    members_.clear();
  }

 private:
  struct Member {
    std::size_t result;
    CaseData data;
    SoloRun solo;
  };

  std::size_t size_;
  std::vector<CaseResult>& results_;
  std::vector<Member> members_;
};

void FailEverywhere(const std::string& reason, CaseResult& result) {
  for (Outcome& outcome : result.outcomes) {
    outcome = {.verdict = Verdict::kFailed, .reason = reason};
  }
}

void RunOne(const Case& source, const Settings& settings, const Expectations& expectations,
            std::vector<CaseResult>& results, FusedPack& pack) {
  CaseResult& result = results.emplace_back();
  result.name = source.name;
  absl::StatusOr<CaseData> data = ReadCase(source);
  if (!data.ok()) {
    return FailEverywhere("cannot be read: " + std::string(data.status().message()), result);
  }
  result.operators = data->operators;
  const Tolerance tolerance = expectations.ToleranceOf(source.name);
  if (settings.runs(Mode::kFolded)) result.in(Mode::kFolded) = RunFolded(*data, tolerance);
  if (!settings.runs(Mode::kSolo) && !settings.runs(Mode::kFused)) return;
  SoloRun solo = RunSolo(*data, tolerance);
  result.in(Mode::kSolo) = solo.outcome;
  result.frozen.assign(solo.frozen.begin(), solo.frozen.end());
  if (solo.outcome.verdict != Verdict::kPassed) {
    result.in(Mode::kFused).reason = "did not pass solo";
  } else if (settings.runs(Mode::kFused)) {
    pack.Add(results.size() - 1, *std::move(data), std::move(solo));
  }
}

bool Write(const std::string& path, const std::vector<CaseResult>& results,
           void (*write)(const std::vector<CaseResult>&, std::ostream&)) {
  if (path.empty()) return true;
  std::ofstream out(path);
  write(results, out);
  if (!out.flush()) std::cerr << "error: cannot write '" << path << "'\n";
  return out.good();
}

int Fail(const absl::Status& status) {
  std::cerr << "error: " << status.message() << '\n';
  return 2;
}

int Run(const Settings& settings) {
  const absl::StatusOr<std::vector<Case>> cases = FindCases(settings.folder);
  if (!cases.ok()) return Fail(cases.status());
  const absl::StatusOr<Expectations> expectations = Expectations::Read(settings.expectations);
  if (!expectations.ok()) return Fail(expectations.status());

  const std::regex filter(settings.filter);
  std::vector<CaseResult> results;
  results.reserve(cases->size());
  FusedPack pack(settings.pack, results);
  for (const Case& one : *cases) {
    if (!std::regex_search(one.name, filter)) continue;
    if (settings.progress) std::cerr << one.name << std::endl;
    RunOne(one, settings, *expectations, results, pack);
  }
  pack.Run();

  WriteText(results, std::cout);
  const bool written = Write(settings.json, results, WriteJson) &&
                       Write(settings.operator_counts, results, WriteOperatorCounts);
  if (!written) return 2;
  if (settings.expectations.empty()) return 0;
  const std::vector<std::string> surprises = expectations->Surprises(results);
  for (const std::string& surprise : surprises) std::cout << "UNEXPECTED " << surprise << '\n';
  std::cout << surprises.size() << " unexpected results\n";
  return surprises.empty() ? 0 : 1;
}

}  // namespace
}  // namespace poprt::conformance

int main(int argc, char** argv) {
  poprt::conformance::Settings settings;
  CLI::App app("Runs an ONNX backend suite alone, folded and fused");
  app.add_option(
      "folder", settings.folder,
      "folder of the suite, or of a part of it; by default the one of ONNX 1.12 that the "
      "test conformance_generate_suite writes into the build folder");
  app.add_option("--filter", settings.filter, "run cases whose name matches this expression");
  app.add_option("--modes", settings.modes, "solo, folded, fused; fused needs solo")
      ->delimiter(',')
      ->check(CLI::IsMember({"solo", "folded", "fused"}));
  app.add_option("--pack", settings.pack, "how many cases are fused into one container")
      ->check(CLI::PositiveNumber);
  app.add_option("--expect", settings.expectations,
                 "files of expected failures: exit with 1 if other cases fail or listed ones pass");
  app.add_option("--json", settings.json, "write the whole report to this file");
  app.add_option("--operator_counts", settings.operator_counts,
                 "write passed cases by operator to this file");
  app.add_flag("--progress", settings.progress, "print the name of every case to standard error");
  CLI11_PARSE(app, argc, argv);
  return poprt::conformance::Run(settings);
}
