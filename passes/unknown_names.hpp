#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace poprt::passes {

/// Collects names that should be in a list but are not.
class UnknownNames {
 public:
  explicit UnknownNames(std::vector<std::string> known) : known_(std::move(known)) {}

  /// Takes note of the name if it is unknown. Returns whether it is known.
  bool Check(std::string_view name);

  /// OK, or InvalidArgument: `what` followed by every unknown name with the nearest known one.
  absl::Status ToStatus(std::string_view what) const;

 private:
  std::vector<std::string> known_;
  std::vector<std::string> unknown_;
};

}  // namespace poprt::passes
