#include <gtest/gtest.h>

#include "compiler/frontend/model_text.hpp"

namespace poprt::frontend {
namespace {

constexpr int kOpset = 27;

/// Two channels of three positions, with filters of 2.
const std::string kOperands =
    FloatsText("x", {1, 2, 3, 4, 5, 6}, {1, 2, 3}) + FloatsText("w", {1, 10, -1, 2}, {2, 1, 2});

TEST(UpgradeCausalConvWithState, StartsWithZeros) {
  const auto model = ImportText(kOperands + OutputText("y") + OutputText("s") +
                                    NodeText("CausalConvWithState", {"x", "w"}, {"y", "s"}),
                                kOpset);
  EXPECT_EQ(ValuesOf(model), "float32[1, 2, 3]: 10 21 32 8 6 7");
  EXPECT_EQ(ValuesOf(model, 1), "float32[1, 2, 1]: 3 6");
}

TEST(UpgradeCausalConvWithState, GoesOnFromPastState) {
  const auto model =
      ImportText(kOperands + FloatsText("b", {100, 200}, {2}) + FloatsText("p", {7, 8}, {1, 2, 1}) +
                     OutputText("y") + OutputText("s") +
                     NodeText("CausalConvWithState", {"x", "w", "b", "p"}, {"y", "s"}),
                 kOpset);
  EXPECT_EQ(ValuesOf(model), "float32[1, 2, 3]: 117 121 132 200 206 207");
  EXPECT_EQ(ValuesOf(model, 1), "float32[1, 2, 1]: 3 6");
}

TEST(UpgradeCausalConvWithState, StateIsLongerThanTheInput) {
  const auto model =
      ImportText(FloatsText("x", {5}, {1, 1, 1}) + FloatsText("w", {1, 2, 3}, {1, 1, 3}) +
                     FloatsText("p", {8, 9}, {1, 1, 2}) + OutputText("y") + OutputText("s") +
                     NodeText("CausalConvWithState", {"x", "w", "", "p"}, {"y", "s"}),
                 kOpset);
  EXPECT_EQ(ValuesOf(model), "float32[1, 1, 1]: 41");
  EXPECT_EQ(ValuesOf(model, 1), "float32[1, 1, 2]: 9 5");
}

TEST(UpgradeCausalConvWithState, Activation) {
  for (const char* name : {"silu", "swish"}) {
    EXPECT_EQ(ValuesOf(ImportText(FloatsText("x", {0, 1, -2}, {1, 1, 3}) +
                                      FloatsText("w", {1}, {1, 1, 1}) + OutputText("y") +
                                      OutputText("s") +
                                      NodeText("CausalConvWithState", {"x", "w"}, {"y", "s"},
                                               TextAttribute("activation", name)),
                                  kOpset)),
              "float32[1, 1, 3]: 0 0.731059 -0.238406");
  }
}

TEST(UpgradeCausalConvWithState, WrongOperands) {
  const auto error = [](const std::string& more, const std::vector<std::string>& inputs,
                        const std::string& rest = "") {
    return ErrorOf(ImportText(
        kOperands + more + OutputText("y") + NodeText("CausalConvWithState", inputs, {"y"}, rest),
        kOpset));
  };
  EXPECT_NE(error(FloatsText("v", {1, 2}, {1, 1, 2}), {"x", "v"})
                .find("input 1 is float32[1, 1, 2], it must be [2, 1, k], a filter for each "
                      "channel of input 0"),
            std::string::npos);
  EXPECT_NE(error(FloatsText("b", {1}, {1}), {"x", "w", "b"})
                .find("input 2 is float32[1], its shape must be [2]"),
            std::string::npos);
  EXPECT_NE(error(FloatsText("p", {1, 2}, {2}), {"x", "w", "", "p"})
                .find("input 3 is float32[2], its shape must be [1, 2, 1]"),
            std::string::npos);
  EXPECT_NE(error("", {"x", "w"}, TextAttribute("activation", "relu"))
                .find("attribute 'activation' is 'relu', allowed are none, silu and swish"),
            std::string::npos);
}

}  // namespace
}  // namespace poprt::frontend
