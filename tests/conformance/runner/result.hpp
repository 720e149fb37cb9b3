#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace poprt::conformance {

/// How a case is run.
enum class Mode : std::uint8_t {
  kSolo,    ///< alone; inputs at run time, but for those whose value determines a shape
  kFolded,  ///< all inputs frozen: constant folding gives the outputs
  kFused,   ///< one graph of a container of many, selected by `index`
};
inline constexpr std::size_t kModes = 3;
inline constexpr std::array<std::string_view, kModes> kModeNames = {"solo", "folded", "fused"};

enum class Verdict : std::uint8_t {
  kPassed,
  kFailed,        ///< another result than the stored one, or an error while running
  kNotSupported,  ///< refused when compiling
  kNotRun,        ///< the mode does not apply; `reason` says why
};
inline constexpr std::array<std::string_view, 4> kVerdictNames = {"passed", "failed",
                                                                  "not supported", "not run"};

struct Outcome {
  Verdict verdict = Verdict::kNotRun;
  std::string reason;  ///< empty when it passed
};

/// What became of one case.
struct CaseResult {
  std::string name;
  std::vector<std::string> operators;  ///< of its model, subgraphs included, ordered
  std::vector<std::string> frozen;     ///< inputs given at compile time in solo and fused mode
  std::array<Outcome, kModes> outcomes;

  const Outcome& in(Mode mode) const { return outcomes[static_cast<std::size_t>(mode)]; }
  Outcome& in(Mode mode) { return outcomes[static_cast<std::size_t>(mode)]; }
  /// Passed with run-time inputs or, where that cannot be, when folding.
  bool passed() const {
    return in(Mode::kSolo).verdict == Verdict::kPassed ||
           in(Mode::kFolded).verdict == Verdict::kPassed;
  }
};

}  // namespace poprt::conformance
