#include "tools/poprt/progress_bar.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "tools/poprt/logging.hpp"

namespace poprt::cli {
namespace {

std::string Bar(const std::string& title, std::size_t filled, const std::string& rest) {
  return "\r" + title + "  [" + std::string(filled, '#') + std::string(30 - filled, ' ') + "] " +
         rest;
}

std::string Wiped(std::size_t columns) { return "\r" + std::string(columns, ' ') + "\r"; }

TEST(ProgressBar, DrawsOneBarForConversionAndOneForCompilation) {
  std::ostringstream out;
  {
    ProgressBar bar(out, ProgressStyle::kBars);
    bar.Update("convert a", 1, 2);
    bar.Update("convert a", 1, 2);
    bar.Update("convert a", 2, 2);
    bar.Update("lower", 0, 3);
    bar.Update("plan", 1, 3);
  }
  EXPECT_EQ(out.str(), Bar("Conversion ", 15, " 50%  convert a") +
                           Bar("Conversion ", 30, "100%  convert a") + Wiped(61) +
                           Bar("Conversion ", 30, "100%").substr(1) + "\n" +
                           Bar("Compilation", 0, "  0%  lower") +
                           Bar("Compilation", 9, " 33%  plan ") + Wiped(56));
}

TEST(ProgressBar, FitsTheTerminal) {
  for (const int columns : {1, 10, 25, 40, 57, 80, 200}) {
    SCOPED_TRACE(columns);
    std::ostringstream out;
    ProgressBar bar(out, ProgressStyle::kBars, columns);
    bar.Update("convert a-model-with-a-very-very-long-name-\xc3\xa4\xc3\xb6.onnx (2/3)", 1, 2);
    const std::string text = out.str();
    EXPECT_LT(text.size(), static_cast<std::size_t>(columns) + 1);  // one is '\r'
    if (columns >= 40) {
      EXPECT_NE(text.find(" 50%  conv"), std::string::npos) << text;
      EXPECT_TRUE(text.ends_with(" (2/3)")) << text;
    }
  }
}

TEST(ProgressBar, WritesOneLineForEachPhaseWhenThereIsNoTerminal) {
  std::ostringstream out;
  ProgressBar bar(out, ProgressStyle::kLines);
  bar.Update("convert a", 0, 2);
  bar.Update("convert a", 2, 2);
  bar.Update("plan", 0, 1);
  bar.Finish();
  EXPECT_EQ(out.str(), "convert a\nplan\n");
}

TEST(ProgressBar, SilentWritesNothing) {
  std::ostringstream out;
  ProgressBar bar(out, ProgressStyle::kSilent);
  bar.Update("convert a", 0, 2);
  bar.Finish();
  EXPECT_EQ(out.str(), "");
}

TEST(ProgressBar, ToleratesOddNumbers) {
  std::ostringstream out;
  ProgressBar bar(out, ProgressStyle::kBars);
  bar.Update("plan", 5, 0);
  bar.Update("plan", -1, 2);
  bar.Update("plan", 9, 2);
  bar.Finish();
  EXPECT_EQ(out.str(), Bar("Compilation", 30, "100%  plan") + Bar("Compilation", 0, "  0%  plan") +
                           Bar("Compilation", 30, "100%  plan") + Wiped(56) +
                           Bar("Compilation", 30, "100%").substr(1) + "\n");
}

TEST(Logger, LeavesOutWhatIsBelowTheLevelAndMakesRoomInTheBar) {
  std::ostringstream out;
  ProgressBar bar(out, ProgressStyle::kBars);
  Logger logger(out, LogLevel::kWarning, &bar);
  bar.Update("plan", 1, 1);
  const std::string drawn = out.str();
  logger.Info("nothing");
  EXPECT_EQ(out.str(), drawn);
  logger.Warning("clipped");
  EXPECT_EQ(out.str(), drawn + "\r" + std::string(drawn.size() - 1, ' ') + "\rwarning: clipped\n");
}

TEST(Logger, ErrorsAreOneForEachLine) {
  std::ostringstream out;
  WriteError(out, "first\n  continued\n\nsecond");
  EXPECT_EQ(out.str(), "error: first\n  continued\nerror: second\n");
}

TEST(Logger, Levels) {
  EXPECT_EQ(ParseLogLevel("DEBUG"), LogLevel::kDebug);
  EXPECT_EQ(ParseLogLevel("CRITICAL"), LogLevel::kCritical);
  EXPECT_EQ(ParseLogLevel("debug"), std::nullopt);
}

}  // namespace
}  // namespace poprt::cli
