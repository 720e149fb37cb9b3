#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/host/weights.hpp"
#include "popef/Types.hpp"
#include "popef/Writer.hpp"
#include "runtime/program/program.hpp"

namespace poprt::emit {

/// Everything a container holds.
struct Container {
  program::Program program;
  const host::WeightsPlan* weights = nullptr;  ///< not owned
  std::vector<Tensor> variables = {};          ///< values of the program's, in their order
  bool fused = false;
  std::uint32_t num_ipus = 1;  ///< that a device of it has
  std::vector<popef::Option> engine_options;
  std::vector<popef::Option> device_options;
  std::string ipu_plan;  ///< content of program::kIpuPlanBlob
  std::map<std::string, std::string> opaque_blobs;
};

/// Writes metadata, executable, opaque blobs and the tensor data of variables; the caller closes
/// the writer. InvalidArgument when an input, output or variable has a type that containers cannot
/// hold; Internal for errors of writing, with their reason.
absl::Status WriteContainer(const Container& container, popef::Writer& writer);

}  // namespace poprt::emit
