#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace poprt::dump {

/// One of the models of a fused container: what runs for one value of the input `index`.
struct FusedGraph {
  std::uint64_t index = 0;
  std::string name;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
};

/// Reads the payload of a program::kFusionBlob, in its order. Throws std::runtime_error that says
/// what is wrong with it.
std::vector<FusedGraph> ParseFusionDescription(std::span<const std::byte> json);

}  // namespace poprt::dump
