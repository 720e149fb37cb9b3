#include "tools/poprt/progress_bar.hpp"

#include <algorithm>
#include <cstddef>
#include <ostream>

namespace poprt::cli {
namespace {

constexpr int kBarWidth = 30;

bool IsConversion(const std::string& phase) {
  return phase.starts_with("convert") || phase.starts_with("import");
}

int Percent(int done, int total) {
  if (total <= 0) return 100;
  return static_cast<int>(100LL * std::clamp(done, 0, total) / total);
}

}  // namespace

ProgressBar::ProgressBar(std::ostream& out, ProgressStyle style) : out_(out), style_(style) {}

ProgressBar::~ProgressBar() { Finish(); }

void ProgressBar::Update(const std::string& phase, int done, int total) {
  const std::lock_guard lock(mutex_);
  const bool begins = phase != phase_;
  if (style_ == ProgressStyle::kLines && begins) out_ << phase << std::endl;
  if (style_ == ProgressStyle::kBars) {
    const bool converting = IsConversion(phase);
    if (converting != converting_) EndLine();
    converting_ = converting;
  }
  phase_ = phase;
  if (style_ == ProgressStyle::kBars) Draw(done, total);
}

void ProgressBar::Draw(int done, int total) {
  const int percent = Percent(done, total);
  const auto filled = static_cast<std::size_t>(kBarWidth * percent / 100);
  std::string text = converting_ ? "Conversion   [" : "Compilation  [";
  text += std::string(filled, '#') + std::string(kBarWidth - filled, ' ') + "] ";
  const std::string number = std::to_string(percent);
  text += std::string(3 - number.size(), ' ') + number + "%  " + phase_;
  if (text == drawn_) return;
  const std::size_t rest = drawn_.size() > text.size() ? drawn_.size() - text.size() : 0;
  out_ << '\r' << text << std::string(rest, ' ') << std::flush;
  drawn_ = text;
  line_open_ = true;
}

void ProgressBar::MakeRoom() {
  const std::lock_guard lock(mutex_);
  if (!line_open_) return;
  out_ << '\r' << std::string(drawn_.size(), ' ') << '\r';
  drawn_.clear();
  line_open_ = false;
}

void ProgressBar::Finish() {
  const std::lock_guard lock(mutex_);
  EndLine();
}

void ProgressBar::EndLine() {
  if (line_open_) out_ << std::endl;
  line_open_ = false;
  drawn_.clear();
}

}  // namespace poprt::cli
