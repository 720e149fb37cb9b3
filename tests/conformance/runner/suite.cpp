#include "tests/conformance/runner/suite.hpp"

#include <algorithm>
#include <filesystem>

namespace poprt::conformance {
namespace {

namespace fs = std::filesystem;

/// "stem_0.pb", "stem_1.pb", ... up to the first that is absent.
std::vector<std::string> NumberedFiles(const fs::path& folder, const std::string& stem) {
  std::vector<std::string> files;
  for (int i = 0;; ++i) {
    const fs::path file = folder / (stem + "_" + std::to_string(i) + ".pb");
    if (!fs::exists(file)) return files;
    files.push_back(file.string());
  }
}

std::vector<DataSet> DataSetsOf(const fs::path& folder) {
  std::vector<DataSet> sets;
  for (int i = 0;; ++i) {
    const fs::path set = folder / ("test_data_set_" + std::to_string(i));
    if (!fs::is_directory(set)) return sets;
    sets.push_back(
        {.inputs = NumberedFiles(set, "input"), .outputs = NumberedFiles(set, "output")});
  }
}

std::string NameOf(const fs::path& path) {
  return (path.parent_path().filename() / path.filename()).string();
}

void AddCase(const fs::path& file, std::vector<Case>& cases) {
  if (file.filename() == "model.onnx") {
    const fs::path folder = file.parent_path();
    cases.push_back({.name = NameOf(folder), .model = file.string(), .data = DataSetsOf(folder)});
  } else if (file.extension() == ".onnx") {
    const fs::path stem = file.parent_path() / file.stem();
    const std::vector<std::string> outputs =
        NumberedFiles(file.parent_path(), file.stem().string() + "_output");
    if (outputs.empty()) return;
    cases.push_back({.name = NameOf(stem),
                     .model = file.string(),
                     .data = {{.inputs = {}, .outputs = outputs}}});
  }
}

}  // namespace

absl::StatusOr<std::vector<Case>> FindCases(const std::string& folder) {
  std::vector<Case> cases;
  std::error_code error;
  for (fs::recursive_directory_iterator at(fs::absolute(folder), error), end; at != end;
       at.increment(error)) {
    if (error) break;
    if (at->is_regular_file()) AddCase(at->path(), cases);
  }
  if (error) return absl::NotFoundError("cannot read '" + folder + "': " + error.message());
  if (cases.empty()) {
    return absl::NotFoundError("'" + folder +
                               "' holds no case: expected folders with model.onnx and "
                               "test_data_set_0");
  }
  std::sort(cases.begin(), cases.end(),
            [](const Case& a, const Case& b) { return a.name < b.name; });
  return cases;
}

}  // namespace poprt::conformance
