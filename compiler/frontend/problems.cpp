#include "compiler/frontend/problems.hpp"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace poprt::frontend {

void Problems::Add(const absl::Status& status, const std::string& where) {
  for (const auto& line : absl::StrSplit(status.message(), '\n')) {
    lines_.push_back(model_ + ": " + where + std::string(line));
    codes_.push_back(status.code());
  }
}

absl::Status Problems::ToStatus() const {
  if (lines_.empty()) return absl::OkStatus();
  const auto all = [&](absl::StatusCode code) {
    return std::all_of(codes_.begin(), codes_.end(), [&](auto found) { return found == code; });
  };
  absl::StatusCode code = absl::StatusCode::kInvalidArgument;
  for (absl::StatusCode uniform : {absl::StatusCode::kNotFound, absl::StatusCode::kUnimplemented}) {
    if (all(uniform)) code = uniform;
  }
  return {code, absl::StrJoin(lines_, "\n")};
}

}  // namespace poprt::frontend
