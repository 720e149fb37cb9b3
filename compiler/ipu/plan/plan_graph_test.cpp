#include "compiler/ipu/plan/plan_graph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "compiler/ipu/plan/graph_for_test.hpp"

namespace poprt::ipu {
namespace {

GraphPlan Planned(const ir::Graph& graph, std::int64_t io_tiles = 0,
                  const PlanOptions& options = {}) {
  const Target target = *FindTarget("ipu21");
  auto plan = PlanGraph(graph, target, *PartitionTiles(target, io_tiles), options);
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  return plan.ok() ? *std::move(plan) : GraphPlan{};
}

OperatorPlan Operator(const GraphPlan& plan, std::string_view op, std::size_t nth = 0) {
  for (const OperatorPlan& candidate : plan.operators) {
    if (candidate.op == op && nth-- == 0) return candidate;
  }
  ADD_FAILURE() << "no operator " << op;
  return {};
}

std::size_t ComputeSets(const OperatorPlan& op) {
  return static_cast<std::size_t>(
      std::count_if(op.steps.begin(), op.steps.end(),
                    [](const Superstep& step) { return step.phase == Phase::kCompute; }));
}

std::uint64_t Cycles(const OperatorPlan& op, Phase phase) {
  std::uint64_t sum = 0;
  for (const Superstep& step : op.steps) {
    if (step.phase == phase) sum += step.cycles * step.repeats;
  }
  return sum;
}

ir::Graph Unary(std::string_view op, const Shape& shape, Attributes attributes = {}) {
  GraphForTest g;
  g.Output(g.Op(op, {g.Input("x", shape)}, shape, std::move(attributes)));
  return g.graph;
}

const Superstep& Step(const OperatorPlan& op, std::string_view name) {
  const auto found = std::find_if(op.steps.begin(), op.steps.end(),
                                  [&](const Superstep& step) { return step.name == name; });
  EXPECT_NE(found, op.steps.end()) << name;
  return *found;
}

/// The first fused block of EfficientNet-EdgeTPU-L, whose published program has 1,472 tiles with a
/// part of the expansion each, and six vertices of its Relu on each of them.
TEST(PlanGraphTest, AFieldCutBothWaysHasRegions) {
  GraphForTest g(ElementType::kFloat32);
  const Attributes kernel{{"pads", Ints{1, 1, 1, 1}}};
  const Shape expanded{2, 128, 112, 112};
  const ir::ValueId image = g.Input("x", {2, 32, 112, 112});
  ir::ValueId x = g.Op("Conv", {image, g.Constant({128, 32, 3, 3})}, expanded, kernel);
  x = g.Op("Relu", {x}, expanded);
  g.Output(g.Op("Conv", {x, g.Constant({32, 128, 1, 1})}, Shape{2, 32, 112, 112}));
  const GraphPlan plan = Planned(g.graph);

  const OperatorPlan relu = Operator(plan, "Relu");
  const Superstep& step = Step(relu, "Relu");
  EXPECT_EQ(step.vertex, "popops::UnaryOp2DInPlace<RELU,float>");
  EXPECT_EQ(step.tiles.count, 1472U);
  EXPECT_EQ(step.vertices, 6 * 1472U);

  // 8 groups of 16 channels of 35 positions, most of them in three rows or more of the expansion.
  const OperatorPlan projection = Operator(plan, "Conv", 1);
  EXPECT_GE(Step(projection, "broadcast operands").exchange_code_bytes, 8 * 3 * 8U);
}

TEST(PlanGraphTest, TheHostLoadsFirstAndStoresLast) {
  const GraphPlan plan = Planned(Unary("Relu", {16, 1000}));
  ASSERT_EQ(plan.operators.size(), 3U);
  EXPECT_EQ(plan.operators[0].op, "HostLoad");
  EXPECT_EQ(plan.operators[1].op, "Relu");
  EXPECT_EQ(plan.operators[2].op, "HostStore");
  EXPECT_EQ(plan.samples, 16U);
  EXPECT_EQ(plan.input_bytes, 32000U);
  EXPECT_EQ(plan.output_bytes, 32000U);
  ASSERT_EQ(plan.tensors.size(), 2U);
  EXPECT_EQ(plan.tensors[0].kind, TensorKind::kInput);
  EXPECT_EQ(plan.tensors[0].first, 0U);
  EXPECT_EQ(plan.tensors[0].last, 1U);
  EXPECT_EQ(plan.tensors[1].kind, TensorKind::kOutput);
  EXPECT_EQ(plan.tensors[1].first, 1U);
  EXPECT_EQ(plan.tensors[1].last, 2U);
  EXPECT_EQ(plan.cycles(), plan.operators[1].cycles());
}

TEST(PlanGraphTest, HostBuffersLieOnIoTiles) {
  const GraphPlan plan = Planned(Unary("Relu", {16, 1000}), 64);
  ASSERT_EQ(plan.tensors.size(), 4U);
  EXPECT_EQ(plan.tensors[0].kind, TensorKind::kActivation);
  EXPECT_GE(plan.tensors[0].mapping.tiles.first, 64U);
  EXPECT_EQ(plan.tensors[2].kind, TensorKind::kInput);
  EXPECT_EQ(plan.tensors[2].mapping.tiles.first, 0U);
  EXPECT_EQ(plan.tensors[2].mapping.tiles.count, 64U);
  EXPECT_EQ(plan.tensors[2].mapping.bytes_per_tile, 500U);
  EXPECT_EQ(plan.tensors[3].kind, TensorKind::kOutput);
  EXPECT_GT(Cycles(plan.operators.front(), Phase::kIoToCompute), 0U);
  EXPECT_GT(Cycles(plan.operators.back(), Phase::kComputeToIo), 0U);
  for (const OperatorPlan& op : plan.operators) {
    for (const Superstep& step : op.steps) {
      EXPECT_LE(step.tiles.first + step.tiles.count, 1472U) << step.name;
      if (op.op == "Relu") {
        EXPECT_GE(step.tiles.first, 64U);
      }
    }
  }
}

TEST(PlanGraphTest, SoftmaxHasSevenComputeSetsAndFiveWhenNotStable) {
  const ir::Graph graph = Unary("Softmax", {11776, 736});
  EXPECT_EQ(ComputeSets(Operator(Planned(graph), "Softmax")), 7U);
  PlanOptions options;
  options.enable_non_stable_softmax = true;
  EXPECT_EQ(ComputeSets(Operator(Planned(graph, 0, options), "Softmax")), 5U);
}

// Eight rows of 736 on each tile took about 18,300 cycles in seven sets (section 4.4).
TEST(PlanGraphTest, SoftmaxTakesAboutWhatWasMeasured) {
  const GraphPlan plan = Planned(Unary("Softmax", {11776, 736}));
  EXPECT_NEAR(static_cast<double>(Cycles(Operator(plan, "Softmax"), Phase::kCompute)), 18300,
              0.15 * 18300);
}

TEST(PlanGraphTest, SoftmaxOfRowsTooLongForATileGoesOverTiles) {
  const GraphPlan plan = Planned(Unary("Softmax", {2, 300000}));
  const OperatorPlan softmax = Operator(plan, "Softmax");
  EXPECT_LT(plan.tensors[1].mapping.bytes_per_tile, 2048U);
  for (const Superstep& step : softmax.steps) {
    EXPECT_LT(step.temporary_bytes, 16384U) << step.name;
    if (step.name == "exp") {
      EXPECT_GT(step.tiles.count, 1000U);
    }
  }
}

TEST(PlanGraphTest, LayerNormHasAboutEightComputeSets) {
  GraphForTest g;
  const auto x = g.Input("x", {2048, 768});
  g.Output(g.Op("LayerNormalization", {x, g.Constant({768}), g.Constant({768})}, {2048, 768},
                {{"axis", std::int64_t{-1}}}));
  const std::size_t sets = ComputeSets(Operator(Planned(g.graph), "LayerNormalization"));
  EXPECT_GE(sets, 8U);
  EXPECT_LE(sets, 10U);
}

TEST(PlanGraphTest, ViewsMoveNothingAndShareMemory) {
  GraphForTest g;
  const auto x = g.Input("x", {16, 128, 768});
  const auto y = g.Op("Relu", {x}, {16, 128, 768});
  const auto r = g.Op("Reshape", {y}, {16, 128, 12, 64});
  const auto t = g.Op("Transpose", {r}, {16, 12, 128, 64}, {{"perm", Ints{0, 2, 1, 3}}});
  g.Output(g.Op("Softmax", {t}, {16, 12, 128, 64}));
  const GraphPlan plan = Planned(g.graph);
  EXPECT_TRUE(Operator(plan, "Reshape").steps.empty());
  EXPECT_TRUE(Operator(plan, "Transpose").steps.empty());
  EXPECT_EQ(plan.tensors[static_cast<std::size_t>(r)].storage, static_cast<TensorIndex>(y));
  EXPECT_EQ(plan.tensors[static_cast<std::size_t>(t)].storage, static_cast<TensorIndex>(y));
  EXPECT_FALSE(plan.tensors[static_cast<std::size_t>(y)].storage.has_value());
}

TEST(PlanGraphTest, TheDyingOperandIsComputedOnInPlace) {
  GraphForTest g;
  const auto x = g.Input("x", {64, 1024});
  const auto a = g.Op("Sqrt", {x}, {64, 1024});
  const auto b = g.Op("Relu", {a}, {64, 1024});
  const auto c = g.Op("Exp", {b}, {64, 1024});
  g.Output(g.Op("Add", {b, c}, {64, 1024}));
  const GraphPlan plan = Planned(g.graph);
  // The host's tensor stays, a dies in Relu, b is read again after Exp.
  EXPECT_FALSE(plan.tensors[static_cast<std::size_t>(a)].storage.has_value());
  EXPECT_EQ(plan.tensors[static_cast<std::size_t>(b)].storage, static_cast<TensorIndex>(a));
  EXPECT_FALSE(plan.tensors[static_cast<std::size_t>(c)].storage.has_value());
}

TEST(PlanGraphTest, ATransposedOperandIsAPricedRearrangement) {
  GraphForTest g;
  const auto x = g.Input("x", {2048, 768});
  const auto y = g.Input("y", {768, 2048});
  const auto t = g.Op("Transpose", {y}, {2048, 768}, {{"perm", Ints{1, 0}}});
  g.Output(g.Op("Add", {x, t}, {2048, 768}));
  const OperatorPlan add = Operator(Planned(g.graph), "Add");
  EXPECT_GT(Cycles(add, Phase::kExchange), 0U);
  EXPECT_GT(Cycles(add, Phase::kCopy), 0U);
}

TEST(PlanGraphTest, OperandsThatLieAlikeNeedNoExchange) {
  GraphForTest g;
  const auto x = g.Input("x", {2048, 768});
  g.Output(g.Op("Add", {x, g.Op("Relu", {x}, {2048, 768})}, {2048, 768}));
  const OperatorPlan add = Operator(Planned(g.graph), "Add");
  EXPECT_EQ(Cycles(add, Phase::kExchange) + Cycles(add, Phase::kCopy), 0U);
}

TEST(PlanGraphTest, WeightsLieAsTheProductWantsThem) {
  GraphForTest g;
  const auto w = g.Constant({768, 3072});
  g.Output(g.Op("MatMul", {g.Input("x", {2048, 768}), w}, {2048, 3072}));
  const GraphPlan plan = Planned(g.graph);
  const OperatorPlan product = Operator(plan, "MatMul");
  EXPECT_FALSE(product.grid.empty());
  EXPECT_EQ(product.flops, std::uint64_t{2} * 2048 * 768 * 3072);
  for (const Superstep& step : product.steps) {
    EXPECT_EQ(step.name.find("weights"), std::string::npos) << step.name;
  }
  const TensorPlan& weights = plan.tensors[static_cast<std::size_t>(w)];
  EXPECT_EQ(weights.kind, TensorKind::kConstant);
  EXPECT_GT(weights.mapping.tiles.count, 1000U);
}

ir::Graph Product(std::int64_t rows, std::int64_t inner, std::int64_t columns) {
  GraphForTest g;
  const auto x = g.Op("Softmax", {g.Input("x", {rows, inner})}, {rows, inner});
  g.Output(g.Op("MatMul", {x, g.Constant({inner, columns})}, {rows, columns}));
  return g.graph;
}

bool HasStep(const OperatorPlan& op, std::string_view name) {
  return std::any_of(op.steps.begin(), op.steps.end(),
                     [&](const Superstep& step) { return step.name == name; });
}

TEST(PlanGraphTest, InputsOfManyTilesAreGatheredBeforeTheyAreBroadcast) {
  // Operands are swapped: the parts of the columns, the first number, need the same rows.
  const OperatorPlan wide = Operator(Planned(Product(128, 1024, 4096)), "MatMul");
  EXPECT_EQ(wide.grid, "46 x 4 x 8 of 4096 x 128 x 1024");
  EXPECT_TRUE(HasStep(wide, "exchange input"));
  EXPECT_TRUE(HasStep(wide, "copy own input"));
  const OperatorPlan narrow = Operator(Planned(Product(16384, 1024, 32)), "MatMul");
  EXPECT_EQ(narrow.grid.substr(0, 7), "1 x 342");
  EXPECT_FALSE(HasStep(narrow, "copy own input"));
}

/// A depthwise convolution of 5 x 5, two images.
OperatorPlan Depthwise(std::int64_t channels, std::int64_t field) {
  GraphForTest g(ElementType::kFloat32);
  const Shape shape = {2, channels, field, field};
  const auto x = g.Input("x", shape);
  g.Output(g.Op("Conv", {x, g.Constant({channels, 1, 5, 5})}, shape,
                {{"group", channels}, {"pads", Ints{2, 2, 2, 2}}}));
  return Operator(Planned(g.graph), "Conv");
}

TEST(PlanGraphTest, WeightsOfCombinedGroupsAreSpreadElementByElement) {
  const OperatorPlan conv = Depthwise(896, 14);
  EXPECT_EQ(conv.grid, "5 x 1 x 1 of 392 x 8 x 8, 56 of 112 groups, 5 of 5 kernel rows");
  // A row of 2 x 8 groups on 5 tiles, with two pointers of 4 bytes each.
  const Superstep& spread = Step(conv, "spread weights");
  EXPECT_EQ(spread.bytes / spread.tiles.count, 16 * sizeof(float));
  EXPECT_EQ(spread.vertex_state_bytes, 16 + 16 * 8);
  EXPECT_TRUE(HasStep(conv, "transpose input"));
  EXPECT_EQ(Step(conv, "calculate").vertex, "poplin::ConvPartialnx1<float,float,8>");
  // The sums of five rows of the kernel are added up: four long pieces are sent, four received.
  EXPECT_EQ(Step(conv, "exchange partials").exchange_code_bytes, 8 + 4 * (8 + 4) + 4 * 8);
}

TEST(PlanGraphTest, WindowsOfSwappedConvolutionsAreReceivedPositionByPosition) {
  const OperatorPlan conv = Depthwise(1408, 14);
  EXPECT_EQ(conv.grid, "1 x 1 x 1 of 14 x 28 x 5, 1408 of 1408 groups");
  // Five rows of the kernel for each of 28 x 14 positions, in rows of 14.
  const Superstep& expand = Step(conv, "expand kernel into channels");
  EXPECT_EQ(expand.bytes / expand.tiles.count, 5 * 28 * 14 * sizeof(float));
  EXPECT_EQ(expand.vertex_state_bytes, 16 + 5 * 28 * 8);
  // A list for each of 6 workers and 14 positions of what is its kernel now.
  EXPECT_EQ(Step(conv, "calculate").vertex_state_bytes, 52 + 6 * 14 * 4);
}

TEST(PlanGraphTest, TablesOfEqualSizeLieOnDifferentTilesAndOneThatIsSharedOnTheSame) {
  GraphForTest g;
  const auto shared = g.Constant({2000, 64});
  for (const auto table : {g.Constant({2000, 64}), shared, shared}) {
    g.Output(
        g.Op("Gather", {table, g.Input("i", TensorType{ElementType::kInt32, {1}})}, Shape{1, 64}));
  }
  const GraphPlan plan = Planned(g.graph);
  const auto first = [&](std::size_t nth) {
    return Step(Operator(plan, "Gather", nth), "look up").tiles.first;
  };
  EXPECT_NE(first(0), first(1));
  EXPECT_EQ(first(1), first(2));
}

TEST(PlanGraphTest, StateOfVerticesIsTheirFields) {
  const auto state = [](const OperatorPlan& op, std::string_view name) {
    return Step(op, name).vertex_state_bytes;
  };
  EXPECT_EQ(state(Operator(Planned(Unary("Relu", {1472, 64})), "Relu"), "Relu"), 12);
  GraphForTest g;
  const auto x = g.Input("x", {1472, 64});
  const auto y = g.Op("Exp", {x}, {1472, 64});
  const auto z = g.Op("Add", {y, x}, {1472, 64});
  g.Output(g.Op("Mul", {z, g.Constant({64})}, {1472, 64}));
  const GraphPlan plan = Planned(g.graph);
  EXPECT_EQ(state(Operator(plan, "Exp"), "Exp"), 12);  // the host's tensor stays
  EXPECT_EQ(state(Operator(plan, "Add"), "Add"), 12);
  EXPECT_EQ(state(Operator(plan, "Mul"), "Mul"), 16);
  EXPECT_EQ(state(Operator(Planned(Product(128, 1024, 4096)), "MatMul"), "calculate"), 32);
}

TEST(PlanGraphTest, TheControlProgramCallsSupervisorsAndStartsWorkers) {
  const auto control = [](const OperatorPlan& op, std::string_view name) {
    return Step(op, name).control_code_bytes;
  };
  const OperatorPlan product = Operator(Planned(Product(128, 1024, 4096)), "MatMul");
  EXPECT_EQ(control(product, "broadcast operands"), 4);
  EXPECT_EQ(control(product, "calculate"), 8);
  EXPECT_EQ(control(product, "reduce"), 20);
  EXPECT_EQ(control(Operator(Planned(Unary("Relu", {1472, 64})), "Relu"), "Relu"), 20);
}

/// Two layers of a perceptron.
ir::Graph Layers(int count) {
  GraphForTest g;
  auto x = g.Input("x", {512, 512});
  for (int i = 0; i < count; ++i) {
    x = g.Op("MatMul", {x, g.Constant({512, 512})}, {512, 512});
    x = g.Op("Add", {x, g.Constant({512})}, {512, 512});
    x = g.Op("Relu", {x}, {512, 512});
  }
  g.Output(x);
  return g.graph;
}

TEST(PlanGraphTest, LayersAlikeShareCode) {
  const GraphPlan plan = Planned(Layers(6));
  const OperatorPlan last = Operator(plan, "MatMul", 5);
  ASSERT_TRUE(last.outlined.has_value());
  EXPECT_EQ(plan.operators[*last.outlined].op, "MatMul");
  EXPECT_LT(*last.outlined, 8U);
  const auto calls =
      std::count_if(plan.operators.begin(), plan.operators.end(), [](const OperatorPlan& op) {
        if (op.steps.empty() || !op.steps.front().at_call) return false;
        EXPECT_EQ(op.steps.front().name, "copy arguments of call");
        EXPECT_EQ(op.steps.front().vertex_state_bytes, 16);
        EXPECT_EQ(op.steps.front().control_code_bytes, 20 + 4);
        return true;
      });
  EXPECT_EQ(calls, 5);  // the product of the first layer reads its input from elsewhere

  PlanOptions options;
  options.enable_outlining = false;
  const GraphPlan apart = Planned(Layers(6), 0, options);
  for (const OperatorPlan& op : apart.operators) EXPECT_FALSE(op.outlined.has_value());
  EXPECT_LT(apart.cycles(), plan.cycles());

  options.enable_outlining = true;
  options.outline_threshold = 1e9;
  for (const OperatorPlan& op : Planned(Layers(6), 0, options).operators) {
    EXPECT_FALSE(op.outlined.has_value());
  }
}

TEST(PlanGraphTest, ProductsThatDoNotFitAreNoted) {
  GraphForTest g;
  g.Output(g.Op("MatMul", {g.Input("x", {16384, 768}), g.Constant({768, 3072})}, {16384, 3072}));
  PlanOptions options;
  options.available_memory_proportion = 0.0001;
  const GraphPlan plan = Planned(g.graph, 0, options);
  ASSERT_EQ(plan.notes.size(), 1U);
  EXPECT_THAT(plan.notes[0], testing::HasSubstr("node 'MatMul'"));
  EXPECT_THAT(plan.notes[0], testing::HasSubstr("available_memory_proportion"));
  EXPECT_TRUE(Planned(g.graph).notes.empty());
}

ir::Graph WithLoop(std::int64_t trips) {
  GraphForTest body;
  const auto i = body.Input("i", TensorType{ElementType::kInt64, {}});
  const auto keep = body.Input("keep", TensorType{ElementType::kBool, {}});
  const auto state = body.Input("state", {256, 256});
  (void)i;
  const auto next = body.Op("Tanh", {state}, {256, 256});
  body.Output(keep);
  body.Output(next);
  GraphForTest g;
  const auto x = g.Input("x", {256, 256});
  const auto count = g.graph.AddConstant("trips", Tensor({ElementType::kInt64, {}}, &trips));
  const auto y =
      g.Op("Loop", {count, ir::kAbsent, x}, {256, 256}, {{"num_carried", std::int64_t{1}}});
  g.graph.nodes.back().regions.push_back(body.graph);
  g.Output(y);
  return g.graph;
}

TEST(PlanGraphTest, ALoopTakesItsTripsTimesItsBody) {
  const OperatorPlan ten = Operator(Planned(WithLoop(10)), "Loop");
  const OperatorPlan hundred = Operator(Planned(WithLoop(100)), "Loop");
  EXPECT_EQ(hundred.cycles(), 10 * ten.cycles());
  EXPECT_GT(ten.cycles(), 0U);
}

TEST(PlanGraphTest, OfAnIfTheBranchThatTakesLongerCounts) {
  const auto branch = [](std::string_view op) {
    GraphForTest b;
    b.Output(b.Op(op, {b.Input("v", {256, 256})}, {256, 256}));
    return b.graph;
  };
  std::map<std::string, std::uint64_t> cycles;
  for (const std::string op : {"Relu", "Sin"}) {
    GraphForTest g;
    const auto cond = g.Input("c", TensorType{ElementType::kBool, {}});
    const auto y = g.Op("If", {cond, g.Input("x", {256, 256})}, {256, 256});
    g.graph.nodes.back().regions = {branch("Relu"), branch(op)};
    g.Output(y);
    cycles[op] = Operator(Planned(g.graph), "If").cycles();
  }
  EXPECT_GT(cycles["Relu"], 0U);
  EXPECT_GT(cycles["Sin"], cycles["Relu"]);
}

TEST(PlanGraphTest, NodesSayWhereTheyRun) {
  const ir::Graph graph = Unary(
      "Relu", {16, 16}, {{"__ipu_number", std::int64_t{1}}, {"__pipeline_stage", std::int64_t{2}}});
  const OperatorPlan op = Operator(Planned(graph), "Relu");
  EXPECT_EQ(op.ipu, 1U);
  EXPECT_EQ(op.stage, 2U);
}

TEST(PlanGraphTest, AttributesOfTheWrongTypeAreNamed) {
  const Target target = *FindTarget("ipu21");
  const auto plan = PlanGraph(Unary("Softmax", {16, 16}, {{"axis", std::string("last")}}), target,
                              *PartitionTiles(target, 0), {});
  ASSERT_FALSE(plan.ok());
  EXPECT_THAT(std::string(plan.status().message()), testing::HasSubstr("node 'Softmax'"));
}

TEST(PlanGraphTest, TensorsWithoutElementsTakeNoTime) {
  for (const std::string op : {"Softmax", "Relu", "CumSum", "TopK"}) {
    const OperatorPlan plan = Operator(Planned(Unary(op, {4, 0})), op);
    EXPECT_EQ(plan.cycles(), 0U) << op;
  }
}

TEST(PlanGraphTest, SamplesAreWhatMostInputsAndOutputsHave) {
  GraphForTest g;
  const auto rows = g.Input("rows", {208000, 2});
  const auto numbers = g.Input("numbers", {8000, 13});
  (void)rows;
  g.Output(g.Op("Relu", {numbers}, {8000, 13}));
  EXPECT_EQ(Planned(g.graph).samples, 8000U);
  EXPECT_FALSE(Planned(g.graph).same_first_axis);
}

TEST(PlanGraphTest, PartsAreViewsOfTheWhole) {
  GraphForTest g;
  const auto x = g.Op("Relu", {g.Input("x", {128, 3072})}, {128, 3072});
  const Attributes second = {{"starts", Ints{1024}}, {"ends", Ints{2048}}, {"axes", Ints{1}}};
  const auto part = g.Op("Slice", {x}, {128, 1024}, second);
  g.Output(g.Op("Exp", {part}, {128, 1024}));
  const GraphPlan plan = Planned(g.graph);
  EXPECT_TRUE(Operator(plan, "Slice").steps.empty());
  EXPECT_EQ(plan.tensors[static_cast<std::size_t>(part)].storage, static_cast<TensorIndex>(x));
  EXPECT_TRUE(plan.same_first_axis);
}

TEST(PlanGraphTest, EveryTargetMultipliesEveryFormat) {
  for (const ElementType element :
       {ElementType::kFloat16, ElementType::kFloat32, ElementType::kFloat8E4M3FN}) {
    GraphForTest g(element);
    g.Output(g.Op("MatMul", {g.Input("x", {512, 768}), g.Constant({768, 768})}, {512, 768}));
    std::map<std::string, std::uint64_t> cycles;
    for (const std::string version : {"ipu1", "ipu2", "ipu21"}) {
      const Target target = *FindTarget(version);
      const auto plan = PlanGraph(g.graph, target, *PartitionTiles(target, 0), {});
      ASSERT_TRUE(plan.ok()) << version << ": " << plan.status().message();
      cycles[version] = plan->cycles();
    }
    EXPECT_GT(cycles["ipu1"], cycles["ipu2"]) << ElementName(element);
    EXPECT_GE(cycles["ipu2"], cycles["ipu21"]) << ElementName(element);
  }
}

TEST(PlanGraphTest, PlansAreDeterministic) {
  const GraphPlan a = Planned(Layers(3));
  const GraphPlan b = Planned(Layers(3));
  ASSERT_EQ(a.operators.size(), b.operators.size());
  for (std::size_t i = 0; i < a.operators.size(); ++i) {
    EXPECT_EQ(a.operators[i].cycles(), b.operators[i].cycles());
    EXPECT_EQ(a.operators[i].grid, b.operators[i].grid);
  }
}

}  // namespace
}  // namespace poprt::ipu
