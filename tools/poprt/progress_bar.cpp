#include "tools/poprt/progress_bar.hpp"

#include <algorithm>
#include <cstddef>
#include <ostream>
#include <string_view>

namespace poprt::cli {
namespace {

constexpr std::size_t kMostCells = 30;
constexpr std::size_t kFewestCells = 5;
constexpr std::size_t kRoomForLabel = 26;
constexpr std::size_t kAroundCells = 22;  // "Compilation  [] 100%  "

// Of `columns` the last stays empty, since a full line makes some terminals begin the next.
std::size_t CellsFor(std::size_t columns) {
  const std::size_t taken = kAroundCells + kRoomForLabel + 1;
  return columns > taken ? std::clamp(columns - taken, kFewestCells, kMostCells) : kFewestCells;
}

// The first bytes of a text, no character of UTF-8 cut in two.
std::string Start(const std::string& text, std::size_t size) {
  size = std::min(size, text.size());
  while (size > 0 && size < text.size() &&
         (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80U) {
    --size;
  }
  return text.substr(0, size);
}

// "convert a-long-name.onnx (1/3)" as "convert a-lo.. (1/3)".
std::string Shortened(const std::string& label, std::size_t size) {
  if (label.size() <= size) return label;
  constexpr std::string_view dots = "..";
  const std::size_t at = label.ends_with(')') ? label.rfind(" (") : std::string::npos;
  const std::string tail = at == std::string::npos ? "" : label.substr(at);
  const std::size_t kept = dots.size() + tail.size();
  if (size <= kept) return Start(label, size);
  return Start(label, size - kept) + std::string(dots) + tail;
}

std::string BarText(bool converting, int percent, std::size_t columns) {
  const std::size_t cells = CellsFor(columns);
  const std::size_t filled = cells * static_cast<std::size_t>(percent) / 100;
  const std::string number = std::to_string(percent);
  return std::string(converting ? "Conversion   [" : "Compilation  [") + std::string(filled, '#') +
         std::string(cells - filled, ' ') + "] " + std::string(3 - number.size(), ' ') + number +
         "%";
}

bool IsConversion(const std::string& phase) {
  return phase.starts_with("convert") || phase.starts_with("import");
}

int Percent(int done, int total) {
  if (total <= 0) return 100;
  return static_cast<int>(100LL * std::clamp(done, 0, total) / total);
}

}  // namespace

ProgressBar::ProgressBar(std::ostream& out, ProgressStyle style, int columns)
    : out_(out), style_(style), columns_(static_cast<std::size_t>(std::max(columns, 1))) {}

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
  complete_ = percent == 100;
  std::string text = BarText(converting_, percent, columns_) + "  ";
  text += Shortened(phase_, columns_ > text.size() + 1 ? columns_ - text.size() - 1 : 0);
  text = Start(text, columns_ - 1);
  if (text == drawn_) return;
  const std::size_t rest = drawn_.size() > text.size() ? drawn_.size() - text.size() : 0;
  out_ << '\r' << text << std::string(rest, ' ') << std::flush;
  drawn_ = text;
  line_open_ = true;
}

void ProgressBar::MakeRoom() {
  const std::lock_guard lock(mutex_);
  Wipe();
}

void ProgressBar::Wipe() {
  if (!line_open_) return;
  out_ << '\r' << std::string(drawn_.size(), ' ') << '\r' << std::flush;
  drawn_.clear();
  line_open_ = false;
}

void ProgressBar::Finish() {
  const std::lock_guard lock(mutex_);
  EndLine();
}

void ProgressBar::EndLine() {
  if (!line_open_) return;
  Wipe();
  if (complete_) out_ << Start(BarText(converting_, 100, columns_), columns_ - 1) << std::endl;
}

}  // namespace poprt::cli
