#include "tools/display/escape.hpp"

#include <gtest/gtest.h>

namespace poprt::display {
namespace {

TEST(EscapeTest, KeepsPrintableText) {
  EXPECT_EQ(Escape(""), "");
  EXPECT_EQ(Escape("layer.0/weight \"x\""), "layer.0/weight \"x\"");
  EXPECT_EQ(Escape("größe/模型/😀"), "größe/模型/😀");
}

TEST(EscapeTest, EscapesWhatChangesTheTerminal) {
  EXPECT_EQ(Escape("a\nb\r\t\x1B[31m\x7F"), "a\\nb\\r\\t\\x1B[31m\\x7F");
  EXPECT_EQ(Escape(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(Escape("\u0085\u202E\u2028\uFEFF"), "\\u{85}\\u{202E}\\u{2028}\\u{FEFF}");
  EXPECT_EQ(Escape("a\\n"), "a\\\\n");
}

TEST(EscapeTest, EscapesWhatIsNotUtf8) {
  EXPECT_EQ(Escape("\x80"), "\\x80");
  EXPECT_EQ(Escape("\xC0\x80"), "\\xC0\\x80");
  EXPECT_EQ(Escape("\xE2\x82"), "\\xE2\\x82");
  EXPECT_EQ(Escape("\xE0\x80\x80"), "\\xE0\\x80\\x80");
  EXPECT_EQ(Escape("\xED\xA0\x80"), "\\xED\\xA0\\x80");
  EXPECT_EQ(Escape("\xF4\x90\x80\x80"), "\\xF4\\x90\\x80\\x80");
}

TEST(EscapeTest, Quotes) { EXPECT_EQ(Quote("a\"b\\\n"), "\"a\\\"b\\\\\\n\""); }

TEST(EscapeTest, CountsCharacters) {
  EXPECT_EQ(Width("größe"), 5U);
  EXPECT_EQ(Width("模型"), 2U);
}

}  // namespace
}  // namespace poprt::display
