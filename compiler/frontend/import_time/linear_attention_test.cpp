#include <gtest/gtest.h>

#include "compiler/frontend/model_text.hpp"

namespace poprt::frontend {
namespace {

constexpr int kOpset = 27;

std::string Heads(std::int64_t query, std::int64_t key) {
  return IntAttribute("q_num_heads", query) + IntAttribute("kv_num_heads", key) +
         FloatAttribute("scale", 1);
}

/// One head of size 1, three positions.
const std::string kOne = FloatsText("q", {1, 10, 100}, {1, 3, 1}) +
                         FloatsText("k", {1, 2, 3}, {1, 3, 1}) +
                         FloatsText("v", {1, 1, 2}, {1, 3, 1}) + OutputText("y") + OutputText("s");

absl::StatusOr<ImportedModel> Attend(const std::string& text, const std::string& rule,
                                     const std::vector<std::string>& inputs,
                                     const std::string& heads = Heads(1, 1)) {
  return ImportText(text + NodeText("LinearAttention", inputs, {"y", "s"},
                                    "name: \"a\" " + heads + TextAttribute("update_rule", rule)),
                    kOpset);
}

TEST(LinearAttention, Linear) {
  const auto model = Attend(kOne, "linear", {"q", "k", "v"});
  EXPECT_EQ(ValuesOf(model), "float32[1, 3, 1]: 1 30 900");
  EXPECT_EQ(ValuesOf(model, 1), "float32[1, 1, 1, 1]: 9");
}

TEST(LinearAttention, GatedGoesOnFromPastState) {
  // exp(0.6931472) is 2.
  const auto model = Attend(
      kOne + FloatsText("p", {5}, {1, 1, 1, 1}) + FloatsText("g", {0, 0.6931472F, 0}, {1, 3, 1}),
      "gated", {"q", "k", "v", "p", "g"});
  EXPECT_EQ(ValuesOf(model), "float32[1, 3, 1]: 6 140 2000");
  EXPECT_EQ(ValuesOf(model, 1), "float32[1, 1, 1, 1]: 20");
}

TEST(LinearAttention, Delta) {
  // States 0.5 * 1, 0.5 + 1 * 2 * (1 - 0.5 * 2), 0.5 + 2 * 3 * (2 - 0.5 * 3).
  const auto model = Attend(kOne + FloatsText("b", {0.5F, 1, 2}, {1, 3, 1}), "delta",
                            {"q", "k", "v", "", "", "b"});
  EXPECT_EQ(ValuesOf(model), "float32[1, 3, 1]: 0.5 5 350");
  EXPECT_EQ(ValuesOf(model, 1), "float32[1, 1, 1, 1]: 3.5");
}

TEST(LinearAttention, GatedDelta) {
  // States 0.5 * 1, then 0 + 2 * 1 since all decays, then 2 + 0.5 * 3 * (2 - 2 * 3).
  const auto model = Attend(
      kOne + FloatsText("b", {0.5F, 1, 0.5F}, {1, 3, 1}) + FloatsText("g", {0, -200, 0}, {1, 3, 1}),
      "gated_delta", {"q", "k", "v", "", "g", "b"});
  EXPECT_EQ(ValuesOf(model), "float32[1, 3, 1]: 0.5 20 -400");
}

TEST(LinearAttention, QueriesShareStates) {
  // Keys of 2 and values of 1; the second query reads what the first key wrote, too.
  const auto model =
      Attend(FloatsText("q", {1, 0, 0, 1, 1, 1, 1, -1}, {1, 2, 4}) +
                 FloatsText("k", {2, 3, 1, 1}, {1, 2, 2}) + FloatsText("v", {10, 1}, {1, 2, 1}) +
                 OutputText("y") + OutputText("s"),
             "linear", {"q", "k", "v"}, Heads(2, 1));
  EXPECT_EQ(ValuesOf(model), "float32[1, 2, 2]: 20 30 52 -10");
  EXPECT_EQ(ValuesOf(model, 1), "float32[1, 1, 2, 1]: 21 31");
}

TEST(LinearAttention, OfLongSequencesIsALoop) {
  const std::string text = InputText("q", {"1", "4000", "2"}) + InputText("k", {"1", "4000", "2"}) +
                           InputText("v", {"1", "4000", "2"}) + OutputText("y") + OutputText("s");
  const auto model = Attend(text, "linear", {"q", "k", "v"});
  ASSERT_TRUE(model.ok()) << model.status();
  std::size_t loops = 0;
  for (const ir::Node& node : model->graph.nodes) loops += node.op == "Loop" ? 1 : 0;
  EXPECT_EQ(loops, 1U);
  EXPECT_LT(model->graph.nodes.size(), 20U);
}

TEST(LinearAttention, OfOnePositionIsNoLoop) {
  const std::string text = InputText("q", {"1", "1", "2"}) + InputText("k", {"1", "1", "2"}) +
                           InputText("v", {"1", "1", "2"}) + OutputText("y") + OutputText("s");
  const auto model = Attend(text, "linear", {"q", "k", "v"});
  ASSERT_TRUE(model.ok()) << model.status();
  for (const ir::Node& node : model->graph.nodes) EXPECT_NE(node.op, "Loop");
}

TEST(LinearAttention, WrongOperands) {
  const std::string where =
      "m: node 'a' (LinearAttention, opset 27, inputs float32[1, 3, 1], float32[1, 3, 1], "
      "float32[1, 3, 1]): ";
  EXPECT_EQ(ErrorOf(Attend(kOne, "delta", {"q", "k", "v"})), where + "input 5 is missing");
  EXPECT_EQ(ErrorOf(Attend(kOne, "other", {"q", "k", "v"})),
            where +
                "attribute 'update_rule' is 'other', allowed are linear, gated, delta and "
                "gated_delta");
  EXPECT_EQ(ErrorOf(Attend(kOne, "linear", {"q", "k", "v"}, Heads(1, 2))),
            where +
                "attributes 'q_num_heads' and 'kv_num_heads' are 1 and 2, the first must be a "
                "positive multiple of the second");
  EXPECT_EQ(ErrorOf(Attend(kOne, "linear", {"q", "k", "v"}, Heads(2, 1))),
            where +
                "input 0 is float32[1, 3, 1], it must be float32[1, 3, 0] as the query and the "
                "numbers of heads say");
}

}  // namespace
}  // namespace poprt::frontend
