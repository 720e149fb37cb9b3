#include "tools/poprt/output_files.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "absl/strings/str_cat.h"

namespace poprt::cli {
namespace {

namespace fs = std::filesystem;

absl::Status Refused(const fs::path& folder, const std::string& reason) {
  return absl::PermissionDeniedError(absl::StrCat("cannot write to output folder '",
                                                  folder.string(), "': ", reason,
                                                  "; choose another --output_dir"));
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

absl::Status CheckFolder(const fs::path& folder) {
  const fs::path existing = NearestExisting(folder.empty() ? fs::path(".") : folder);
  std::error_code error;
  if (!fs::is_directory(existing, error)) {
    return Refused(folder, absl::StrCat("'", existing.string(), "' is no folder"));
  }
  std::string probe = (existing / ".poprt-XXXXXX").string();
  const int file = mkstemp(probe.data());
  if (file < 0) return Refused(folder, std::strerror(errno));
  close(file);
  unlink(probe.c_str());
  return absl::OkStatus();
}

// A folder in the place of a result cannot be replaced by it.
absl::Status CheckFile(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    return absl::PermissionDeniedError(
        absl::StrCat("cannot write '", path.string(), "': there is a folder of that name"));
  }
  return CheckFolder(path.parent_path());
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
          settings.export_popef ? (folder / "executable.popef").lexically_normal().string() : ""};
}

void CheckOverwriting(const OutputFiles& files, std::span<const InputFile> inputs,
                      Problems& problems) {
  for (const InputFile& input : inputs) {
    if (IsSameFile(files.onnx, input.path)) {
      problems.AddUsage(absl::StrCat("the converted model would overwrite ", input.role, " '",
                                     input.path,
                                     "'; choose another --output_dir or --output_model"));
    }
    if (!files.popef.empty() && IsSameFile(files.popef, input.path)) {
      problems.AddUsage(absl::StrCat("the container would overwrite ", input.role, " '", input.path,
                                     "'; choose another --output_dir"));
    }
  }
  if (!files.popef.empty() && IsSameFile(files.onnx, files.popef)) {
    problems.AddUsage(absl::StrCat("the converted model and the container would both be '",
                                   files.popef, "'; choose another --output_model"));
  }
}

absl::Status CheckWritable(const OutputFiles& files) {
  absl::Status status = CheckFile(files.onnx);
  if (status.ok() && !files.popef.empty()) status = CheckFile(files.popef);
  return status;
}

absl::Status MakeFolders(const OutputFiles& files) {
  for (const std::string& file : {files.onnx, files.popef}) {
    const fs::path folder = fs::path(file).parent_path();
    if (folder.empty()) continue;
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) return Refused(folder, error.message());
  }
  return absl::OkStatus();
}

}  // namespace poprt::cli
