#include "passes/unknown_names.hpp"

#include <algorithm>

#include "compiler/ir/nearest_name.hpp"

namespace poprt::passes {

bool UnknownNames::Check(std::string_view name) {
  if (std::ranges::find(known_, name) != known_.end()) return true;
  unknown_.emplace_back(name);
  return false;
}

absl::Status UnknownNames::ToStatus(std::string_view what) const {
  if (unknown_.empty()) return absl::OkStatus();
  std::string message(what);
  const char* separator = ": ";
  for (const std::string& name : unknown_) {
    message += separator + ("'" + name + "'");
    const auto nearest = ir::NearestName(name, known_);
    if (nearest) message += " (did you mean '" + *nearest + "'?)";
    separator = ", ";
  }
  return absl::InvalidArgumentError(message);
}

}  // namespace poprt::passes
