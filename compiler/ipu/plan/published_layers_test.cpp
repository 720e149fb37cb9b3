#include <gtest/gtest.h>

#include "compiler/ipu/plan/graph_for_test.hpp"
#include "compiler/ipu/plan/plan_graph.hpp"

/// Layers of published models. Bounds are those of section 7.3: nothing here is fitted.
namespace poprt::ipu {
namespace {

struct Encoder {
  std::int64_t batch = 1;
  std::int64_t tokens = 128;
  std::int64_t width = 768;
  std::int64_t heads = 12;
  std::int64_t inner = 3072;
};

class EncoderGraph : public GraphForTest {
 public:
  explicit EncoderGraph(const Encoder& e) : e_(e) {}

  ir::Graph Build(int layers) {
    ir::ValueId x = Input("x", Hidden(e_.width));
    for (int i = 0; i < layers; ++i) x = Layer(x);
    Output(x);
    return graph;
  }

 private:
  Shape Hidden(std::int64_t width) const { return {e_.batch, e_.tokens, width}; }

  ir::ValueId Linear(ir::ValueId x, std::int64_t in, std::int64_t out) {
    const ir::ValueId y = Op("MatMul", {x, Constant({in, out})}, Hidden(out));
    return Op("Add", {y, Constant({out})}, Hidden(out));
  }

  ir::ValueId Norm(ir::ValueId x) {
    return Op("LayerNormalization", {x, Constant({e_.width}), Constant({e_.width})},
              Hidden(e_.width), {{"axis", std::int64_t{-1}}});
  }

  ir::ValueId Heads(ir::ValueId x, const Ints& permutation) {
    const Shape split = {e_.batch, e_.tokens, e_.heads, e_.width / e_.heads};
    Shape result;
    for (const std::int64_t axis : permutation) {
      result.push_back(split[static_cast<std::size_t>(axis)]);
    }
    return Op("Transpose", {Op("Reshape", {x}, split)}, result, {{"perm", permutation}});
  }

  ir::ValueId Layer(ir::ValueId x) {
    const std::int64_t depth = e_.width / e_.heads;
    const ir::ValueId q = Heads(Linear(x, e_.width, e_.width), {0, 2, 1, 3});
    const ir::ValueId k = Heads(Linear(x, e_.width, e_.width), {0, 2, 3, 1});
    const ir::ValueId v = Heads(Linear(x, e_.width, e_.width), {0, 2, 1, 3});
    const Shape scores = {e_.batch, e_.heads, e_.tokens, e_.tokens};
    ir::ValueId s = Op("MatMul", {q, k}, scores);
    s = Op("Mul", {s, Constant({})}, scores);
    s = Op("Softmax", {s}, scores, {{"axis", std::int64_t{-1}}});
    ir::ValueId y = Op("MatMul", {s, v}, Shape{e_.batch, e_.heads, e_.tokens, depth});
    y = Op("Transpose", {y}, Shape{e_.batch, e_.tokens, e_.heads, depth},
           {{"perm", Ints{0, 2, 1, 3}}});
    y = Linear(Op("Reshape", {y}, Hidden(e_.width)), e_.width, e_.width);
    x = Norm(Op("Add", {x, y}, Hidden(e_.width)));
    y = Op("Gelu", {Linear(x, e_.width, e_.inner)}, Hidden(e_.inner));
    return Norm(Op("Add", {x, Linear(y, e_.inner, e_.width)}, Hidden(e_.width)));
  }

  Encoder e_;
};

double Cycles(const Encoder& encoder, int layers, const PlanOptions& options) {
  const Target target = *FindTarget("ipu21");
  const auto plan =
      PlanGraph(EncoderGraph(encoder).Build(layers), target, *PartitionTiles(target, 0), options);
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  return plan.ok() ? static_cast<double>(plan->cycles()) : 0;
}

PlanOptions Published(double proportion) {
  PlanOptions options;
  options.available_memory_proportion = proportion;
  options.use_128bit_conv_unit_load = true;
  options.enable_fast_reduce = true;
  options.enable_multi_stage_reduce = false;
  return options;
}

// Device cycles of a batch of section 4.1.
TEST(PublishedLayersTest, BertBaseOf128) {
  EXPECT_NEAR(33.9e6 / Cycles({.batch = 128}, 12, Published(0.4)), 1.04, 0.29);
}

TEST(PublishedLayersTest, BertBaseOf16) {
  EXPECT_NEAR(4.98e6 / Cycles({.batch = 16}, 12, Published(0.4)), 1.04, 0.29);
}

TEST(PublishedLayersTest, BertLargeOf18) {
  PlanOptions options;
  options.available_memory_proportion = 0.15;
  const Encoder large{.batch = 18, .width = 1024, .heads = 16, .inner = 4096};
  EXPECT_NEAR(18.3e6 / Cycles(large, 24, options), 1.04, 0.29);
}

// Of 27 layers of a vision tower 15,987,659 cycles were profiled (section 4.4).
TEST(PublishedLayersTest, SiglipTower) {
  const Encoder tower{.tokens = 729, .width = 1152, .heads = 16, .inner = 4304};
  EXPECT_NEAR(15987659.0 / Cycles(tower, 27, {}), 1.04, 0.29);
}

}  // namespace
}  // namespace poprt::ipu
