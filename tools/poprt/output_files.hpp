#pragma once

#include <string>

#include "absl/status/status.h"
#include "tools/poprt/settings.hpp"

namespace poprt::cli {

/// Where results go.
struct OutputFiles {
  std::string onnx;   ///< the converted model
  std::string popef;  ///< the container
};

OutputFiles OutputFilesOf(const Settings& settings);

/// Finds out, before any work, whether the files can be written: tries a temporary file in the
/// folder of each or, while that is missing, in the nearest folder above that exists. Leaves
/// nothing behind. PermissionDenied names the folder.
absl::Status CheckWritable(const OutputFiles& files);

/// Makes the folders of the files.
absl::Status MakeFolders(const OutputFiles& files);

}  // namespace poprt::cli
