#include "compiler/frontend/problems.hpp"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace poprt::frontend {

void Problems::Add(const absl::Status& status, const std::string& where) {
  for (const auto& line : absl::StrSplit(status.message(), '\n')) {
    lines_.push_back(model_ + ": " + within_ + where + std::string(line));
    codes_.push_back(status.code());
  }
}

Problems Problems::Attempt() const {
  Problems attempt(model_);
  attempt.within_ = within_;
  return attempt;
}

void Problems::Append(const Problems& attempt) {
  lines_.insert(lines_.end(), attempt.lines_.begin(), attempt.lines_.end());
  codes_.insert(codes_.end(), attempt.codes_.begin(), attempt.codes_.end());
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
