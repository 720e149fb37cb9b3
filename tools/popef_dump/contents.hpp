#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "popef/Reader.hpp"
#include "runtime/program/program.hpp"
#include "tools/popef_dump/fusion_description.hpp"
#include "tools/popef_dump/ipu_plan.hpp"

namespace poprt::dump {

struct Executable {
  std::string name;
  std::uint64_t bytes = 0;  ///< after decompression
  bool compressed = false;
  /// False for programs of other producers.
  bool by_poprt = false;
  std::optional<program::Program> program;  ///< only if it could be read
  std::uint64_t weight_bytes = 0;           ///< of the program, all branches together
};

struct Opaque {
  std::string name;
  std::string executable;
  std::uint64_t bytes = 0;
  std::optional<std::vector<FusedGraph>> graphs;  ///< of a program::kFusionBlob that could be read
  std::optional<IpuPlan> plan = {};               ///< of a program::kIpuPlanBlob that could be read
};

/// One container, ready to be shown.
struct Contents {
  std::string path;
  popef::Reader reader;
  /// Empty unless LoadOptions::payloads is set.
  std::vector<Executable> executables;
  std::vector<Opaque> opaques;
  /// Altered payloads and parts that could not be read, as messages without the file's name. What
  /// they do not concern can be shown all the same.
  std::vector<std::string> problems;
};

struct LoadOptions {
  /// Reads programs, plans and the description of fused graphs; weights are not touched.
  bool payloads = true;
  /// Compares the hashes of all payloads.
  bool verify = false;
};

/// Reads a file. Throws popef::Error if it is no valid container.
Contents LoadContents(const std::string& path, const LoadOptions& options);

}  // namespace poprt::dump
