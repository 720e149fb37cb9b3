#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "passes/evaluate_for_test.hpp"
#include "passes/graph_for_test.hpp"

namespace poprt::passes {
namespace {

constexpr double kRounding = 1e-5;
constexpr std::int64_t kBatch = 2;
constexpr std::int64_t kHeads = 3;
constexpr std::int64_t kQueries = 4;
constexpr std::int64_t kKeys = 5;
constexpr std::int64_t kDepth = 8;
const Shape kScores{kBatch, kHeads, kQueries, kKeys};

/// An attention in the making: each step may be written as one exporter or another does.
struct Writer {
  GraphForTest g;

  /// [batch, rows, heads * depth] -> the axes in the order of `perm`.
  ir::ValueId Split(const char* name, std::int64_t rows, const Ints& perm) {
    const std::string prefix = name;
    const Shape shape{kBatch, rows, kHeads, kDepth};
    const auto x = g.Input(name, {kBatch, rows, kHeads * kDepth});
    const auto heads = g.Op(prefix + "_heads", "Reshape", {x}, shape, {{"shape", shape}});
    Shape to;
    for (const std::int64_t axis : perm) to.push_back(shape[static_cast<std::size_t>(axis)]);
    return g.Op(prefix + "_split", "Transpose", {heads}, to, {{"perm", perm}});
  }
  ir::ValueId Q() { return Split("q", kQueries, {0, 2, 1, 3}); }
  ir::ValueId K() { return Split("k", kKeys, {0, 2, 3, 1}); }
  ir::ValueId V() { return Split("v", kKeys, {0, 2, 1, 3}); }

  ir::ValueId Product(ir::ValueId q, ir::ValueId k) {
    return g.Op("product", "MatMul", {q, k}, kScores);
  }
  ir::ValueId Divided(ir::ValueId scores) {
    return g.Op("scaled", "Div", {scores, g.Scalar(4)}, kScores);
  }
  /// Softmax, the values, and the heads joined.
  void Finish(ir::ValueId scores, ir::ValueId v) {
    const auto weights =
        g.Op("weights", "Softmax", {scores}, kScores, {{"axis", std::int64_t{-1}}});
    const auto y = g.Op("y", "MatMul", {weights, v}, {kBatch, kHeads, kQueries, kDepth});
    const auto joined = g.Op("joined", "Transpose", {y}, {kBatch, kQueries, kHeads, kDepth},
                             {{"perm", Ints{0, 2, 1, 3}}});
    const Shape flat{kBatch, kQueries, kHeads * kDepth};
    g.Output(g.Op("flat", "Reshape", {joined}, flat, {{"shape", flat}}));
  }

  /// Runs the pass, checks that the graph computes what it did, and gives its text.
  std::string After() {
    const ir::Graph before = g.graph;
    std::string text = g.After("attention_pattern");
    EXPECT_LE(LargestDifference(before, g.graph), kRounding);
    return text;
  }
  std::size_t Count(std::string_view op) const {
    std::size_t count = 0;
    for (const ir::Node& node : g.graph.nodes) count += node.op == op ? 1 : 0;
    return count;
  }
};

TEST(AttentionPatternTest, ReadsAndWritesHeadsInPlace) {
  Writer w;
  const auto q = w.Q();
  const auto k = w.K();
  const auto v = w.V();
  w.Finish(w.Divided(w.Product(q, k)), v);
  EXPECT_EQ(w.After(),
            "  joined = FusedAttention(q, k, v) k_view=[0, 120, 8, 24, 1] q_view=[0, 96, 8, 24, 1] "
            "scale=0.25 sizes=[2, 3, 4, 5, 8, 8] v_view=[0, 120, 8, 24, 1] "
            "y_view=[0, 96, 8, 24, 1] : float32[2, 4, 3, 8]\n"
            "  flat = Reshape(joined) shape=[2, 4, 24] : float32[2, 4, 24]\n"
            "  return flat\n");
}

TEST(AttentionPatternTest, TakesScalesOfOperands) {
  Writer w;
  const double root = std::sqrt(std::sqrt(8.0));
  const auto q = w.Q();
  const auto scaled_q =
      w.g.Op("sq", "Mul", {q, w.g.Scalar(1 / root)}, {kBatch, kHeads, kQueries, kDepth});
  // As scaled_dot_product_attention is exported: keys are transposed twice, and scaled.
  const auto k = w.Split("k", kKeys, {0, 2, 1, 3});
  const auto turned = w.g.Op("turned", "Transpose", {k}, {kBatch, kHeads, kDepth, kKeys},
                             {{"perm", Ints{0, 1, 3, 2}}});
  const auto scaled_k =
      w.g.Op("sk", "Div", {turned, w.g.Scalar(root)}, {kBatch, kHeads, kDepth, kKeys});
  w.Finish(w.Product(scaled_q, scaled_k), w.V());
  EXPECT_NE(w.After().find("k_view=[0, 120, 8, 24, 1] q_view=[0, 96, 8, 24, 1] scale=0.35355"),
            std::string::npos);
  EXPECT_EQ(w.g.graph.nodes.size(), 2U);
}

TEST(AttentionPatternTest, TakesAddedMasks) {
  for (const Shape& shape : {Shape{kBatch, 1, 1, kKeys}, Shape{kBatch, 1, kQueries, kKeys},
                             Shape{kHeads, kQueries, kKeys}, Shape{kKeys}, kScores}) {
    for (const bool first : {false, true}) {
      Writer w;
      const auto q = w.Q();
      const auto k = w.K();
      const auto v = w.V();
      const auto mask = w.g.Input("mask", shape);
      const auto scores = w.Divided(w.Product(q, k));
      const auto inputs = first ? std::vector{mask, scores} : std::vector{scores, mask};
      w.Finish(w.g.Op("masked", "Add", inputs, kScores), v);
      EXPECT_NE(w.After().find("FusedAttention(q, k, v, mask)"), std::string::npos);
      EXPECT_EQ(w.g.graph.nodes.size(), 2U);
    }
  }
}

TEST(AttentionPatternTest, TakesWhereInEitherOrderAndThenAdd) {
  for (const bool keeps : {true, false}) {
    Writer w;
    const auto q = w.Q();
    const auto k = w.K();
    const auto v = w.V();
    const auto shown =
        w.g.Constant("shown", TensorType{ElementType::kBool, {1, 1, 1, kKeys}}, {1, 0, 1, 1, 0});
    const auto scores = w.Divided(w.Product(q, k));
    const auto fill = w.g.Scalar(-5);
    const auto where = w.g.Op(
        "where", "Where",
        keeps ? std::vector{shown, scores, fill} : std::vector{shown, fill, scores}, kScores);
    w.Finish(w.g.Op("masked", "Add", {where, w.g.Input("mask", {kQueries, kKeys})}, kScores), v);
    const std::string text = w.After();
    EXPECT_NE(text.find("FusedAttention(q, k, v, mask, shown) fill=-5"), std::string::npos) << text;
    EXPECT_NE(text.find(keeps ? "keep_if=1" : "keep_if=0"), std::string::npos) << text;
    EXPECT_EQ(w.g.graph.nodes.size(), 2U);
  }
}

/// What follows the diagonal of [queries, keys], where the last query sees all keys.
std::vector<double> Triangle(double shown, double hidden) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < kQueries; ++i) {
    for (std::int64_t k = 0; k < kKeys; ++k) {
      values.push_back(k <= i + kKeys - kQueries ? shown : hidden);
    }
  }
  return values;
}

TEST(AttentionPatternTest, KnowsConstantCausalMasks) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double hidden : {-1e4, -3.4e38, -kInfinity}) {
    Writer w;
    const auto q = w.Q();
    const auto k = w.K();
    const auto v = w.V();
    const auto mask = w.g.Constant("mask", {1, 1, kQueries, kKeys}, Triangle(0, hidden));
    w.Finish(w.g.Op("masked", "Add", {w.Divided(w.Product(q, k)), mask}, kScores), v);
    const std::string text = w.After();
    EXPECT_NE(text.find("FusedAttention(q, k, v) "), std::string::npos) << text;
    EXPECT_NE(text.find("visible=2 "), std::string::npos) << text;
  }
  Writer w;
  const auto q = w.Q();
  const auto k = w.K();
  const auto v = w.V();
  const auto shown = w.g.Constant("shown", TensorType{ElementType::kBool, {1, 1, kQueries, kKeys}},
                                  Triangle(1, 0));
  w.Finish(w.g.Op("masked", "Where", {shown, w.Product(q, k), w.g.Scalar(-1e9)}, kScores), v);
  EXPECT_NE(w.After().find("visible=2 "), std::string::npos);
}

/// GPT-2's: where the second mask hides all keys that the first one shows, those that this hides
/// are seen, unless they are hidden by an infinity.
TEST(AttentionPatternTest, KeepsCausalMasksBesideOthers) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double hidden : {-1e4, -3.4e38, -kInfinity}) {
    Writer w;
    const auto q = w.Q();
    const auto k = w.K();
    const auto v = w.V();
    const auto padding = w.g.Input("padding", {kBatch, 1, 1, kKeys});
    const auto shown = w.g.Constant(
        "shown", TensorType{ElementType::kBool, {1, 1, kQueries, kKeys}}, Triangle(1, 0));
    const auto causal =
        w.g.Op("causal", "Where", {shown, w.Product(q, k), w.g.Scalar(hidden)}, kScores);
    w.Finish(w.g.Op("masked", "Add", {causal, padding}, kScores), v);
    const std::string text = w.After();
    const bool is_taken = hidden == -kInfinity;
    const std::string inputs = is_taken ? "(q, k, v, padding) " : "(q, k, v, padding, shown) ";
    EXPECT_NE(text.find("FusedAttention" + inputs), std::string::npos) << text;
    EXPECT_EQ(text.find("visible=2 ") != std::string::npos, is_taken) << text;
  }
}

TEST(AttentionPatternTest, KeepsOtherConstantMasks) {
  std::vector<double> hole = Triangle(0, -1e4);
  hole[0] = -1e4;
  for (const std::vector<double>& values : {Triangle(0, -5), Triangle(1, -1e4), hole}) {
    Writer w;
    const auto q = w.Q();
    const auto k = w.K();
    const auto v = w.V();
    const auto mask = w.g.Constant("mask", {kQueries, kKeys}, values);
    w.Finish(w.g.Op("masked", "Add", {w.Product(q, k), mask}, kScores), v);
    EXPECT_NE(w.After().find("FusedAttention(q, k, v, mask)"), std::string::npos);
  }
}

/// Queries, keys and values as parts of one product, as vision transformers (Gather) and GPT-2
/// (Split, Slice) have them.
TEST(AttentionPatternTest, ReadsPartsOfOnePackedTensor) {
  for (const std::string op : {"Gather", "Split", "Slice"}) {
    GraphForTest g;
    const std::int64_t n = kKeys;
    const Shape packed{kBatch, n, 3 * kHeads * kDepth};
    const Shape head{kBatch, kHeads, n, kDepth};
    const auto x = g.Input("x", packed);
    std::vector<ir::ValueId> parts;
    if (op == "Gather") {
      const Shape five{kBatch, n, 3, kHeads, kDepth};
      const auto heads = g.Op("heads", "Reshape", {x}, five, {{"shape", five}});
      const auto turned = g.Op("turned", "Transpose", {heads}, {3, kBatch, kHeads, n, kDepth},
                               {{"perm", Ints{2, 0, 3, 1, 4}}});
      for (const double i : {0.0, 1.0, -1.0}) {
        const auto at = g.Constant("at", TensorType{ElementType::kInt64, {}}, {i});
        parts.push_back(g.Op("part", "Gather", {turned, at}, head, {{"axis", std::int64_t{0}}}));
      }
    } else {
      const Shape third{kBatch, n, kHeads * kDepth};
      std::vector<ir::ValueId> thirds;
      for (std::int64_t i = 0; i < 3; ++i) {
        const std::int64_t width = kHeads * kDepth;
        if (op == "Slice") {
          thirds.push_back(g.Op(
              "third", op, {x}, third,
              {{"starts", Ints{i * width}}, {"ends", Ints{(i + 1) * width}}, {"axes", Ints{-1}}}));
        } else if (i == 0) {
          thirds.push_back(g.Op("third", op, {x}, third,
                                {{"axis", std::int64_t{2}}, {"split", Ints{width, width, width}}}));
        } else {
          thirds.push_back(g.graph.AddValue("third", g.graph.type(thirds[0])));
          g.graph.nodes.back().outputs.push_back(thirds.back());
        }
      }
      for (const ir::ValueId id : thirds) {
        const Shape four{kBatch, n, kHeads, kDepth};
        const auto heads = g.Op("heads", "Reshape", {id}, four, {{"shape", four}});
        parts.push_back(g.Op("part", "Transpose", {heads}, head, {{"perm", Ints{0, 2, 1, 3}}}));
      }
    }
    const auto turned = g.Op("kt", "Transpose", {parts[1]}, {kBatch, kHeads, kDepth, n},
                             {{"perm", Ints{0, 1, 3, 2}}});
    const Shape scores{kBatch, kHeads, n, n};
    const auto product = g.Op("product", "MatMul", {parts[0], turned}, scores);
    const auto weights = g.Op("weights", "Softmax", {product}, scores, {{"axis", std::int64_t{3}}});
    g.Output(g.Op("y", "MatMul", {weights, parts[2]}, head));
    const ir::Graph before = g.graph;
    EXPECT_EQ(g.After("attention_pattern"),
              "  y = FusedAttention(x, x, x) k_view=[24, 360, 8, 72, 1] q_view=[0, 360, 8, 72, 1] "
              "scale=1 sizes=[2, 3, 5, 5, 8, 8] v_view=[48, 360, 8, 72, 1] "
              "y_view=[0, 120, 40, 8, 1] : float32[2, 3, 5, 8]\n"
              "  return y\n")
        << op;
    EXPECT_LE(LargestDifference(before, g.graph), kRounding);
  }
}

/// Heads and batch in one axis, as older exporters write it.
TEST(AttentionPatternTest, TakesScoresOfThreeAxes) {
  GraphForTest g;
  const Shape scores{6, 4, 5};
  const auto q = g.Input("q", {6, 4, 8});
  const auto k = g.Input("k", {6, 5, 8});
  const auto v = g.Input("v", {6, 5, 8});
  const auto turned = g.Op("kt", "Transpose", {k}, {6, 8, 5}, {{"perm", Ints{0, 2, 1}}});
  const auto weights = g.Op("w", "Softmax", {g.Op("p", "MatMul", {q, turned}, scores)}, scores,
                            {{"axis", std::int64_t{2}}});
  g.Output(g.Op("y", "MatMul", {weights, v}, {6, 4, 8}));
  const ir::Graph before = g.graph;
  EXPECT_EQ(g.After("attention_pattern"),
            "  y = FusedAttention(q, k, v) k_view=[0, 0, 40, 8, 1] q_view=[0, 0, 32, 8, 1] "
            "scale=1 sizes=[1, 6, 4, 5, 8, 8] v_view=[0, 0, 40, 8, 1] y_view=[0, 192, 32, 8, 1] "
            ": float32[6, 4, 8]\n"
            "  return y\n");
  EXPECT_LE(LargestDifference(before, g.graph), kRounding);
}

TEST(AttentionPatternTest, LeavesTransposesThatPartChannels) {
  Writer w;
  // Channels before rows: neither queries nor values have their channels together.
  const auto q = w.g.Op("qt", "Transpose", {w.g.Input("q", {kBatch, kHeads, kDepth, kQueries})},
                        {kBatch, kHeads, kQueries, kDepth}, {{"perm", Ints{0, 1, 3, 2}}});
  const auto k = w.g.Input("k", {kBatch, kHeads, kDepth, kKeys});
  const auto v = w.g.Op("vt", "Transpose", {w.g.Input("v", {kBatch, kHeads, kDepth, kKeys})},
                        {kBatch, kHeads, kKeys, kDepth}, {{"perm", Ints{0, 1, 3, 2}}});
  w.Finish(w.Product(q, k), v);
  EXPECT_NE(w.After().find("FusedAttention(qt, k, vt) k_view=[0, 120, 40, 1, 5]"),
            std::string::npos);
  EXPECT_EQ(w.Count("Transpose"), 2U);
}

TEST(AttentionPatternTest, LeavesWhatIsNotAttention) {
  using Change = std::function<void(Writer&)>;
  const auto node = [](Writer& w, std::string_view op) -> ir::Node& {
    for (ir::Node& n : w.g.graph.nodes) {
      if (n.op == op) return n;
    }
    return w.g.graph.nodes.front();
  };
  const std::vector<Change> changes = {
      // Softmax over the queries.
      [&](Writer& w) { node(w, "Softmax").attributes.set("axis", std::int64_t{2}); },
      // Parts that are used elsewhere.
      [&](Writer& w) { w.g.Output(node(w, "Softmax").outputs[0]); },
      [&](Writer& w) { w.g.Output(node(w, "Div").outputs[0]); },
      [&](Writer& w) { w.g.Output(node(w, "MatMul").outputs[0]); },
      // A divisor that is no scalar.
      [&](Writer& w) { node(w, "Div").inputs[1] = w.g.Input("divisor", {kKeys}); },
      // Scores that are no product.
      [&](Writer& w) { node(w, "Div").inputs[0] = w.g.Input("scores", kScores); },
      // The scores are the divisor.
      [&](Writer& w) { std::swap(node(w, "Div").inputs[0], node(w, "Div").inputs[1]); },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    Writer w;
    const auto q = w.Q();
    const auto k = w.K();
    const auto v = w.V();
    w.Finish(w.Divided(w.Product(q, k)), v);
    changes[i](w);
    w.g.After("attention_pattern");
    EXPECT_EQ(w.Count("FusedAttention"), 0U) << "change " << i;
  }
}

TEST(AttentionPatternTest, LeavesMasksThatItCannotApply) {
  using Masked = std::function<ir::ValueId(Writer&, ir::ValueId)>;
  const std::vector<Masked> forms = {
      // Repeated along the keys.
      [](Writer& w, ir::ValueId x) {
        return w.g.Op("m", "Add", {x, w.g.Input("mask", {kQueries, 1})}, kScores);
      },
      // Two of them.
      [](Writer& w, ir::ValueId x) {
        const auto once = w.g.Op("m", "Add", {x, w.g.Input("a", {kKeys})}, kScores);
        return w.g.Op("n", "Add", {once, w.g.Input("b", {kQueries, kKeys})}, kScores);
      },
      // Added before the scale.
      [](Writer& w, ir::ValueId x) {
        const auto masked = w.g.Op("m", "Add", {x, w.g.Input("mask", {kKeys})}, kScores);
        return w.g.Op("n", "Mul", {masked, w.g.Scalar(0.5)}, kScores);
      },
      // Added before the Where.
      [](Writer& w, ir::ValueId x) {
        const auto masked = w.g.Op("m", "Add", {x, w.g.Input("mask", {kKeys})}, kScores);
        const auto shown =
            w.g.Constant("shown", TensorType{ElementType::kBool, {kKeys}}, {1, 0, 1, 1, 0});
        return w.g.Op("n", "Where", {shown, masked, w.g.Scalar(-5)}, kScores);
      },
      // Filled with no scalar.
      [](Writer& w, ir::ValueId x) {
        const auto shown =
            w.g.Constant("shown", TensorType{ElementType::kBool, {kKeys}}, {1, 0, 1, 1, 0});
        return w.g.Op("n", "Where", {shown, x, w.g.Input("fill", {kKeys})}, kScores);
      },
  };
  for (std::size_t i = 0; i < forms.size(); ++i) {
    Writer w;
    const auto q = w.Q();
    const auto k = w.K();
    const auto v = w.V();
    w.Finish(forms[i](w, w.Divided(w.Product(q, k))), v);
    const std::string before = w.g.Text();
    EXPECT_EQ(w.After(), before) << "form " << i;
  }
}

}  // namespace
}  // namespace poprt::passes
