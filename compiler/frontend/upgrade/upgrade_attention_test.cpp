#include <gtest/gtest.h>

#include <limits>

#include "compiler/frontend/model_text.hpp"

namespace poprt::frontend {
namespace {

constexpr int kOpset = 24;

std::string Outputs(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += OutputText(name);
  return text;
}

/// Two queries of two heads of size 2, two keys and values of one head.
const std::string kHeads =
    FloatsText("q", {0, 0.25F, 0.5F, 0.75F, 1, 1.25F, 1.5F, 1.75F}, {1, 2, 4}) +
    FloatsText("k", {-0.5F, 0, 0.5F, 1}, {1, 2, 2}) + FloatsText("v", {1, 2, 3, 5}, {1, 2, 2});
const std::string kNumbers = IntAttribute("q_num_heads", 2) + IntAttribute("kv_num_heads", 1);

TEST(UpgradeAttention, HeadsShareKeys) {
  const auto model =
      ImportText(kHeads + Outputs({"y", "s"}) +
                     NodeText("Attention", {"q", "k", "v"}, {"y", "", "", "s"}, kNumbers),
                 kOpset);
  EXPECT_EQ(ValuesOf(model),
            "float32[1, 2, 4]: 2.08816 3.63224 2.41525 4.12288 2.66151 4.49227 2.81744 4.72616");
  EXPECT_EQ(
      ValuesOf(model, 1),
      "float32[1, 2, 2, 2]: 0 0.176777 -0.353553 1.23744 -0.176777 0.707107 -0.53033 1.76777");
}

TEST(UpgradeAttention, CausalWithSoftcap) {
  const auto model = ImportText(
      kHeads + Outputs({"y", "s"}) +
          NodeText("Attention", {"q", "k", "v"}, {"y", "", "", "s"},
                   kNumbers + IntAttribute("is_causal", 1) + FloatAttribute("scale", 1) +
                       FloatAttribute("softcap", 2) + IntAttribute("qk_matmul_output_mode", 2)),
      kOpset);
  EXPECT_EQ(ValuesOf(model), "float32[1, 2, 4]: 1 2 1 2 2.73925 4.60888 2.83567 4.7535");
  EXPECT_EQ(ValuesOf(model, 1),
            "float32[1, 2, 2, 2]: 0 -inf -0.489837 1.40781 -0.248706 -inf -0.716715 1.69657");
}

/// One head of size 1 whose scores are all 0, so that the mean of what is seen comes out.
const std::string kEven = FloatsText("q", {0, 0}, {1, 1, 2, 1}) +
                          FloatsText("k", {7, 7, 7}, {1, 1, 3, 1}) +
                          FloatsText("v", {1, 3, 8}, {1, 1, 3, 1});

TEST(UpgradeAttention, MasksHideKeys) {
  const std::string mask =
      "initializer { name: \"m\" data_type: 9 dims: 2 dims: 2 int32_data: [1, 1, 0, 1] } ";
  EXPECT_EQ(ValuesOf(ImportText(
                kEven + mask + Outputs({"y"}) + NodeText("Attention", {"q", "k", "v", "m"}, {"y"}),
                kOpset)),
            "float32[1, 1, 2, 1]: 2 3");
  EXPECT_EQ(ValuesOf(ImportText(kEven + IntsText("n", {2}, {1}) + Outputs({"y"}) +
                                    NodeText("Attention", {"q", "k", "v", "", "", "", "n"}, {"y"},
                                             IntAttribute("is_causal", 1)),
                                kOpset)),
            "float32[1, 1, 2, 1]: 1 2");
}

TEST(UpgradeAttention, PastComesFirst) {
  const std::string past =
      FloatsText("pk", {5}, {1, 1, 1, 1}) + FloatsText("pv", {-1}, {1, 1, 1, 1});
  const auto model = ImportText(kEven + past + Outputs({"y", "nk", "nv"}) +
                                    NodeText("Attention", {"q", "k", "v", "", "pk", "pv"},
                                             {"y", "nk", "nv"}, IntAttribute("is_causal", 1)),
                                kOpset);
  EXPECT_EQ(ValuesOf(model), "float32[1, 1, 2, 1]: 0 1");
  EXPECT_EQ(ValuesOf(model, 1), "float32[1, 1, 4, 1]: 5 7 7 7");
  EXPECT_EQ(ValuesOf(model, 2), "float32[1, 1, 4, 1]: -1 1 3 8");
}

TEST(UpgradeAttention, QueriesWithoutKeysGiveZeros) {
  const std::string mask =
      "initializer { name: \"m\" data_type: 9 dims: 2 dims: 3 int32_data: [0, 0, 0, 1, 0, 1] } ";
  const auto model = ImportText(kEven + mask + Outputs({"y", "s"}) +
                                    NodeText("Attention", {"q", "k", "v", "m"}, {"y", "", "", "s"},
                                             IntAttribute("qk_matmul_output_mode", 3)),
                                kOpset);
  EXPECT_EQ(ValuesOf(model), "float32[1, 1, 2, 1]: 0 4.5");
  EXPECT_EQ(ValuesOf(model, 1), "float32[1, 1, 2, 3]: 0 0 0 0.5 0 0.5");
  const float never = -std::numeric_limits<float>::infinity();
  EXPECT_EQ(
      ValuesOf(ImportText(
          kEven + FloatsText("m", {never, 0, 0, 0, never, never}, {2, 3}) + Outputs({"y"}) +
              NodeText("Attention", {"q", "k", "v", "m"}, {"y"}, IntAttribute("is_causal", 1)),
          kOpset)),
      "float32[1, 1, 2, 1]: 0 1");
  // The only key that is there follows the second query.
  EXPECT_EQ(ValuesOf(ImportText(kEven + IntsText("n", {1}, {1}) + Outputs({"y"}) +
                                    NodeText("Attention", {"q", "k", "v", "", "", "", "n"}, {"y"},
                                             IntAttribute("is_causal", 1)),
                                kOpset)),
            "float32[1, 1, 2, 1]: 0 1");
}

TEST(UpgradeAttention, WeightsHaveTheTypeOfTheQueries) {
  const auto model = ImportText(kEven + Outputs({"y", "s"}) +
                                    NodeText("Attention", {"q", "k", "v"}, {"y", "", "", "s"},
                                             IntAttribute("qk_matmul_output_mode", 3) +
                                                 IntAttribute("softmax_precision", 11)),
                                kOpset);
  EXPECT_EQ(ValuesOf(model, 1),
            "float32[1, 1, 2, 3]: 0.333333 0.333333 0.333333 0.333333 0.333333 0.333333");
}

TEST(UpgradeAttention, WindowsHideFarKeys) {
  const auto attend = [](const std::string& inputs, const std::vector<std::string>& names,
                         const std::string& attributes) {
    return ValuesOf(ImportText(
        kEven + inputs + Outputs({"y"}) + NodeText("Attention", names, {"y"}, attributes), 25));
  };
  EXPECT_EQ(attend("", {"q", "k", "v"},
                   IntAttribute("left_window_size", 0) + IntAttribute("right_window_size", 1)),
            "float32[1, 1, 2, 1]: 2 5.5");
  EXPECT_EQ(attend("", {"q", "k", "v"}, IntAttribute("right_window_size", 0)),
            "float32[1, 1, 2, 1]: 1 2");
  EXPECT_EQ(attend("", {"q", "k", "v"},
                   IntAttribute("left_window_size", 0) + IntAttribute("right_window_size", 5) +
                       IntAttribute("is_causal", 1)),
            "float32[1, 1, 2, 1]: 1 3");
  // Of three keys the queries are the last two, or behind all when two are in the past as well.
  EXPECT_EQ(attend(IntsText("n", {3}, {1}), {"q", "k", "v", "", "", "", "n"},
                   IntAttribute("left_window_size", 1) + IntAttribute("right_window_size", 0)),
            "float32[1, 1, 2, 1]: 2 5.5");
  EXPECT_EQ(attend(FloatsText("p", {5, 6, 7, 9}, {1, 1, 4, 1}), {"q", "k", "v", "", "p", "p"},
                   IntAttribute("left_window_size", 1) + IntAttribute("right_window_size", 0)),
            "float32[1, 1, 2, 1]: 5 2");
  EXPECT_EQ(attend("", {"q", "k", "v"}, "name: \"a\" " + IntAttribute("left_window_size", -2)),
            "m: node 'a' (Attention, opset 25, inputs float32[1, 1, 2, 1], float32[1, 1, 3, 1], "
            "float32[1, 1, 3, 1]): attribute 'left_window_size' is -2, allowed are -1 and up");
}

TEST(UpgradeAttention, QueriesBehindTheWindowOfAllKeysGiveZeros) {
  EXPECT_EQ(
      ValuesOf(ImportText(
          FloatsText("q", {0, 0}, {1, 1, 2, 1}) + FloatsText("k", {7}, {1, 1, 1, 1}) +
              FloatsText("v", {3}, {1, 1, 1, 1}) + Outputs({"y"}) +
              NodeText("Attention", {"q", "k", "v"}, {"y"}, IntAttribute("left_window_size", 0)),
          25)),
      "float32[1, 1, 2, 1]: 3 0");
}

TEST(UpgradeAttention, WrongOperands) {
  EXPECT_EQ(ErrorOf(ImportText(kHeads + Outputs({"y"}) +
                                   NodeText("Attention", {"q", "k", "v"}, {"y"}, "name: \"a\""),
                               kOpset)),
            "m: node 'a' (Attention, opset 24, inputs float32[1, 2, 4], float32[1, 2, 2], "
            "float32[1, 2, 2]): input 0 is float32[1, 2, 4], attribute 'q_num_heads' is 0, it must "
            "divide the last extent");
}

TEST(UpgradeRotaryEmbedding, RotatesPairs) {
  const std::string inputs = FloatsText("x", {1, 2, 3, 4, 5}, {1, 1, 1, 5}) +
                             FloatsText("c", {0, 1}, {1, 1, 2}) +
                             FloatsText("s", {1, 0}, {1, 1, 2});
  const std::string size = IntAttribute("rotary_embedding_dim", 4);
  EXPECT_EQ(ValuesOf(ImportText(
                inputs + Outputs({"y"}) + NodeText("RotaryEmbedding", {"x", "c", "s"}, {"y"}, size),
                kOpset)),
            "float32[1, 1, 1, 5]: -3 2 1 4 5");
  EXPECT_EQ(ValuesOf(ImportText(inputs + Outputs({"y"}) +
                                    NodeText("RotaryEmbedding", {"x", "c", "s"}, {"y"},
                                             size + IntAttribute("interleaved", 1)),
                                kOpset)),
            "float32[1, 1, 1, 5]: -2 1 3 4 5");
  EXPECT_EQ(
      ValuesOf(ImportText(FloatsText("x", {1, 2, 3, 4}, {1, 2, 2}) +
                              FloatsText("c", {1, 0}, {2, 1}) + FloatsText("s", {0, 1}, {2, 1}) +
                              IntsText("p", {1, 0}, {1, 2}) + Outputs({"y"}) +
                              NodeText("RotaryEmbedding", {"x", "c", "s", "p"}, {"y"},
                                       IntAttribute("num_heads", 1)),
                          kOpset)),
      "float32[1, 2, 2]: -2 1 3 4");
}

TEST(UpgradeTensorScatter, WritesAtItsPlaces) {
  const std::string inputs = FloatsText("x", {1, 2, 3, 4, 5, 6}, {2, 3, 1}) +
                             FloatsText("u", {7, 8, 9, 10}, {2, 2, 1}) + IntsText("i", {1, 2}, {2});
  EXPECT_EQ(ValuesOf(ImportText(inputs + Outputs({"y"}) +
                                    NodeText("TensorScatter", {"x", "u", "i"}, {"y"},
                                             TextAttribute("mode", "circular")),
                                kOpset)),
            "float32[2, 3, 1]: 1 7 8 10 5 9");
  EXPECT_EQ(ValuesOf(ImportText(
                inputs + Outputs({"y"}) + NodeText("TensorScatter", {"x", "u"}, {"y"}), kOpset)),
            "float32[2, 3, 1]: 7 8 3 9 10 6");
}

}  // namespace
}  // namespace poprt::frontend
