#pragma once

#include <span>
#include <string>

#include "absl/status/status.h"
#include "tools/poprt/problems.hpp"
#include "tools/poprt/settings.hpp"

namespace poprt::cli {

/// Where results go.
struct OutputFiles {
  std::string onnx;                   ///< the converted model
  std::string popef;                  ///< the container
  std::string perf_tuner_cache = {};  ///< empty if there is none
  std::string report = {};            ///< one of those in --profile_dir, or empty
};

OutputFiles OutputFilesOf(const Settings& settings);

/// A file that is read.
struct InputFile {
  std::string path;
  std::string role;  ///< for messages: "its input", "the configuration file"
};

/// Adds a problem of usage for every result that would replace an input, and if two results
/// would be the same file. Compares files, not spellings of paths.
void CheckOverwriting(const OutputFiles& files, std::span<const InputFile> inputs,
                      Problems& problems);

/// Finds out, before any work, whether the files can be written: tries a temporary file in the
/// folder of each or, while that is missing, in the nearest folder above that exists. Leaves
/// nothing behind. PermissionDenied names the folder.
absl::Status CheckWritable(const OutputFiles& files);

/// Makes the folders of the files.
absl::Status MakeFolders(const OutputFiles& files);

}  // namespace poprt::cli
