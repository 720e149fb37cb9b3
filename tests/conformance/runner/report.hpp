#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "tests/conformance/runner/result.hpp"

namespace poprt::conformance {

/// Cases whose model uses an operator.
struct OperatorCount {
  int cases = 0;
  int solo = 0;    ///< passed with run-time inputs
  int folded = 0;  ///< did not pass solo, but passed when folded
  int fused = 0;   ///< of those that passed solo
};

/// By operator, e.g. "Conv" or "ai.onnx.ml.Binarizer".
std::map<std::string, OperatorCount> CountByOperator(const std::vector<CaseResult>& results);

/// A table of groups, one of operators, and every case that did not pass with its reason.
void WriteText(const std::vector<CaseResult>& results, std::ostream& out);

/// {"cases": [{"name", "operators", "frozen", "solo": {"verdict", "reason"}, ...}], "groups":
/// {...}, "operators": {...}}.
void WriteJson(const std::vector<CaseResult>& results, std::ostream& out);

/// "OPERATOR PASSED CASES" a line, for docs/operators.md.
void WriteOperatorCounts(const std::vector<CaseResult>& results, std::ostream& out);

}  // namespace poprt::conformance
