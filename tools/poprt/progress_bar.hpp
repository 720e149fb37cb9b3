#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <mutex>
#include <string>

namespace poprt::cli {

/// How progress is shown.
enum class ProgressStyle : std::uint8_t {
  kBars,   ///< redrawn lines, for a terminal
  kLines,  ///< one line when a phase begins
  kSilent,
};

/// Shows how far the work is: one bar for conversion, one for compilation, each with the name of
/// its phase. Thread safe.
class ProgressBar {
 public:
  /// `out` must outlive the bar. `columns` is the width of the terminal.
  ProgressBar(std::ostream& out, ProgressStyle style, int columns = 80);
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  /// As Finish().
  ~ProgressBar();

  /// `done` of `total` steps of the phase are done. A phase whose name starts with "convert" or
  /// "import" belongs to the bar of conversion, every other to that of compilation.
  void Update(const std::string& phase, int done, int total);

  /// Wipes the bar so that a line can be written; the next Update draws it again.
  void MakeRoom();
  /// Ends the bar's line for good: a complete bar stays without its label, any other is wiped.
  void Finish();

 private:
  void Draw(int done, int total);
  void EndLine();
  void Wipe();

  std::ostream& out_;
  ProgressStyle style_;
  std::size_t columns_;
  std::mutex mutex_;
  std::string phase_;
  bool converting_ = false;
  bool line_open_ = false;
  bool complete_ = false;
  std::string drawn_;  ///< what stands on the terminal's line
};

}  // namespace poprt::cli
