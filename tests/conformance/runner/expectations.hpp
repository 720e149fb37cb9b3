#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/conformance/runner/compare.hpp"
#include "tests/conformance/runner/result.hpp"

namespace poprt::conformance {

/// What is known beforehand about cases: those that do not pass, and those that need another
/// tolerance than the suite's. Read from text files, a line each:
///
///     MODE CASE REASON                     the case does not pass in that mode (or "all")
///     tolerance RTOL ATOL CASE REASON      its floats are compared with these
///
/// '#' starts a comment. A CASE that ends in '*' stands for all that begin so.
class Expectations {
 public:
  /// InvalidArgument names every line that is wrong.
  static absl::StatusOr<Expectations> Read(const std::vector<std::string>& paths);

  Tolerance ToleranceOf(const std::string& name) const;
  /// Why the case does not pass in that mode; empty if it is to pass.
  std::string Failure(Mode mode, const std::string& name) const;

  /// A line for every case that passes though it should not, or does not pass though it should.
  /// Cases that are not run in a mode count neither way.
  std::vector<std::string> Surprises(const std::vector<CaseResult>& results) const;

 private:
  struct Failures {
    Mode mode;
    std::string pattern;
    std::string reason;
  };
  struct Tolerances {
    std::string pattern;
    Tolerance tolerance;
  };

  absl::Status ReadFile(const std::string& path);
  /// What is wrong with the line; empty if nothing is.
  std::string ReadLine(const std::string& line);

  std::vector<Failures> failures_;
  std::vector<Tolerances> tolerances_;
};

}  // namespace poprt::conformance
