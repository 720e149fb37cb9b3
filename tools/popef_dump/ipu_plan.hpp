#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

namespace poprt::dump {

/// What a program does on the IPU, as docs/ipu_report.md describes it.
struct IpuPlan {
  nlohmann::ordered_json json;
  std::string summary;  ///< its text for people, not escaped
};

/// Reads the payload of a program::kIpuPlanBlob. Throws std::runtime_error that says what is wrong
/// with it.
IpuPlan ParseIpuPlan(std::span<const std::byte> bytes);

}  // namespace poprt::dump
