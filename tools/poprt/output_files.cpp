#include "tools/poprt/output_files.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "absl/strings/str_cat.h"

namespace poprt::cli {
namespace {

namespace fs = std::filesystem;

/// A file that is written.
struct Result {
  std::string what;           ///< for messages
  std::string path;           ///< not empty
  std::string folder_option;  ///< says in which folder, with other results; may be empty
  std::string own_option;     ///< says how it alone is called; may be empty

  const std::string& PlaceOption() const {
    return folder_option.empty() ? own_option : folder_option;
  }
  std::string Options() const {
    const bool both = !folder_option.empty() && !own_option.empty();
    return absl::StrCat(folder_option, both ? " or " : "", own_option);
  }
};

std::vector<Result> ResultsOf(const OutputFiles& files) {
  std::vector<Result> results = {
      {"the converted model", files.onnx, "--output_dir", "--output_model"},
      {"the container", files.popef, "--output_dir", ""},
      {"the cache of --perf_tuner", files.perf_tuner_cache, "", "--perf_tuner_cache"},
      {"the report", files.report, "--profile_dir", ""}};
  std::erase_if(results, [](const Result& result) { return result.path.empty(); });
  return results;
}

absl::Status Refused(const Result& result, const fs::path& folder, const std::string& reason) {
  return absl::PermissionDeniedError(absl::StrCat("cannot write to output folder '",
                                                  folder.string(), "': ", reason,
                                                  "; choose another ", result.PlaceOption()));
}

fs::path NearestExisting(fs::path folder) {
  std::error_code error;
  while (!fs::exists(folder, error)) {
    const fs::path above = folder.parent_path();
    if (above == folder) break;
    folder = above.empty() ? fs::path(".") : above;
  }
  return folder;
}

absl::Status CheckFolder(const Result& result) {
  const fs::path folder = fs::path(result.path).parent_path();
  const fs::path existing = NearestExisting(folder.empty() ? fs::path(".") : folder);
  std::error_code error;
  if (!fs::is_directory(existing, error)) {
    return Refused(result, folder, absl::StrCat("'", existing.string(), "' is no folder"));
  }
  std::string probe = (existing / ".poprt-XXXXXX").string();
  const int file = mkstemp(probe.data());
  if (file < 0) return Refused(result, folder, std::strerror(errno));
  close(file);
  unlink(probe.c_str());
  return absl::OkStatus();
}

// A folder in the place of a result cannot be replaced by it.
absl::Status CheckFile(const Result& result) {
  std::error_code error;
  if (fs::is_directory(result.path, error)) {
    return absl::PermissionDeniedError(
        absl::StrCat("cannot write '", result.path,
                     "': there is a folder of that name; choose another ", result.Options()));
  }
  return CheckFolder(result);
}

// The file behind a path, links followed; it need not exist.
fs::path Canonical(const fs::path& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error).lexically_normal();
  const fs::path canonical = fs::weakly_canonical(absolute, error);
  return error ? absolute : canonical;
}

bool IsSameFile(const fs::path& a, const fs::path& b) {
  std::error_code error;
  if (fs::equivalent(a, b, error) && !error) return true;
  return Canonical(a) == Canonical(b);
}

}  // namespace

OutputFiles OutputFilesOf(const Settings& settings) {
  const fs::path folder(settings.output_dir);
  return {(folder / settings.output_model).lexically_normal().string(),
          settings.export_popef ? (folder / "executable.popef").lexically_normal().string() : "",
          settings.perf_tuner_cache,
          settings.profile_dir.empty() ? ""
                                       : (fs::path(settings.profile_dir) / "report.html").string()};
}

void CheckOverwriting(const OutputFiles& files, std::span<const InputFile> inputs,
                      Problems& problems) {
  const std::vector<Result> results = ResultsOf(files);
  for (const InputFile& input : inputs) {
    for (const Result& result : results) {
      if (!IsSameFile(result.path, input.path)) continue;
      problems.AddUsage(absl::StrCat(result.what, " would overwrite ", input.role, " '", input.path,
                                     "'; choose another ", result.Options()));
    }
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    for (std::size_t other = i + 1; other < results.size(); ++other) {
      const Result& a = results[i];
      const Result& b = results[other];
      if (!IsSameFile(a.path, b.path)) continue;
      problems.AddUsage(absl::StrCat(a.what, " and ", b.what, " would both be '", b.path,
                                     "'; choose another ",
                                     b.own_option.empty() ? a.own_option : b.own_option));
    }
  }
}

absl::Status CheckWritable(const OutputFiles& files) {
  for (const Result& result : ResultsOf(files)) {
    absl::Status status = CheckFile(result);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status MakeFolders(const OutputFiles& files) {
  for (const Result& result : ResultsOf(files)) {
    const fs::path folder = fs::path(result.path).parent_path();
    if (folder.empty()) continue;
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) return Refused(result, folder, error.message());
  }
  return absl::OkStatus();
}

}  // namespace poprt::cli
