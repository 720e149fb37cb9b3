// If, Loop and Scan from ONNX to results on the model device.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "compiler/emit/build_program.hpp"
#include "compiler/emit/onnx_export.hpp"
#include "compiler/frontend/model_text.hpp"
#include "compiler/host/arena.hpp"
#include "compiler/host/weights.hpp"
#include "compiler/ipu/target/target.hpp"
#include "compiler/lower/lower.hpp"
#include "passes/fuse_models.hpp"
#include "passes/pass.hpp"
#include "runtime/device/model_device.hpp"
#include "runtime/tensor/half.hpp"

namespace poprt {
namespace {

using frontend::FloatsText;
using frontend::InputText;
using frontend::IntAttribute;
using frontend::IntsAttribute;
using frontend::IntsText;
using frontend::NodeText;
using frontend::OutputText;

constexpr int kInt64 = 7;
constexpr int kBool = 9;

std::string GraphAttribute(const std::string& name, const std::string& graph) {
  return "attribute { name: \"" + name + "\" type: GRAPH g { name: \"" + name + "\" " + graph +
         "} } ";
}

Tensor Floats(Shape shape, const std::vector<float>& values) {
  return Tensor::Of<float>(ElementType::kFloat32, std::move(shape), values);
}

Tensor Truth(bool value) {
  Tensor tensor({ElementType::kBool, {}});
  tensor.as_mutable<std::uint8_t>()[0] = value ? 1 : 0;
  return tensor;
}

void RunPasses(ir::Graph& graph, passes::Stage stage, const std::string& precision = "fp32") {
  passes::PipelineOptions options;
  options.precision = precision;
  const auto pipeline = passes::BuildPipeline(stage, options);
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  const auto records = passes::RunPasses(graph, *pipeline, {});
  ASSERT_TRUE(records.ok()) << records.status();
}

/// Compiles the graphs into one program and runs one of them.
std::vector<Tensor> RunGraphs(std::vector<ir::Graph> graphs, std::size_t index,
                              const std::vector<Tensor>& inputs) {
  std::vector<lower::Schedule> schedules;
  std::vector<host::ArenaPlan> arenas;
  for (ir::Graph& graph : graphs) {
    graph.name = "graph" + std::to_string(schedules.size());
    RunPasses(graph, passes::Stage::kLowering);
    auto schedule = lower::Lower(graph);
    EXPECT_TRUE(schedule.ok()) << schedule.status();
    if (!schedule.ok()) return {};
    schedules.push_back(*std::move(schedule));
    arenas.push_back(host::PlanArena(schedules.back()));
  }
  const host::WeightsPlan weights = host::PlanWeights(schedules);
  const program::Program program = emit::BuildProgram(schedules, arenas, weights, {}, {}, 1);
  // What the container holds, at an alignment that the device expects.
  std::string bytes = program::SerializeHead(program, weights.bytes);
  const std::size_t head = bytes.size();
  bytes.resize(head + weights.bytes);
  for (const auto& [offset, tensor] : weights.pieces) {
    std::memcpy(bytes.data() + head + offset, tensor.data(), tensor.bytes());
  }
  auto memory = std::make_shared<Tensor>(
      TensorType{ElementType::kUint8, {static_cast<std::int64_t>(bytes.size())}}, bytes.data());
  auto image = std::make_shared<device::Image>(device::Image{
      .owner = memory, .payload = program::ParsePayload({memory->data(), memory->bytes()})});
  const auto loaded = device::MakeModelDevice(0)->Load(image);

  const ir::Graph& graph = graphs[index];
  std::vector<const void*> from;
  from.reserve(inputs.size());
  for (const Tensor& input : inputs) from.push_back(input.data());
  std::vector<Tensor> results;
  for (const ir::ValueId id : graph.outputs) results.emplace_back(graph.type(id));
  std::vector<void*> to;
  to.reserve(results.size());
  for (Tensor& result : results) to.push_back(result.mutable_data());
  std::vector<std::int64_t> extents(results.size(), -1);
  loaded->Run(index, from, to, extents);
  loaded->Run(index, from, to, extents);  // nothing is left over from the first time
  for (const ir::OutputExtent& extent : graph.extents) {
    EXPECT_EQ(extent.axis, 0U);
    TensorType type = results[extent.output].type();
    type.shape[0] = extents[extent.output];
    results[extent.output] = Tensor(type, results[extent.output].data());
  }
  return results;
}

ir::Graph Import(const std::string& text, int opset = 17) {
  const auto model = frontend::ImportText(text, opset);
  EXPECT_TRUE(model.ok()) << model.status();
  return model.ok() ? model->graph : ir::Graph();
}

/// The results, which must be the same bits however the model comes to the device.
std::vector<Tensor> RunModel(const std::string& text, const std::vector<Tensor>& inputs,
                             int opset = 17) {
  ir::Graph graph = Import(text, opset);
  if (graph.nodes.empty()) return {};
  std::vector<Tensor> results = RunGraphs({graph}, 0, inputs);
  const auto expect_same = [&](const std::vector<Tensor>& others, const char* how) {
    EXPECT_EQ(results.size(), others.size()) << how;
    for (std::size_t i = 0; i < results.size() && i < others.size(); ++i) {
      EXPECT_EQ(results[i].type(), others[i].type()) << how << " output " << i;
      EXPECT_TRUE(results[i].bytes() == others[i].bytes() &&
                  std::memcmp(results[i].data(), others[i].data(), results[i].bytes()) == 0)
          << how << " output " << i;
    }
  };
  const auto exported = emit::ExportOnnx(graph);
  EXPECT_TRUE(exported.ok()) << exported.status();
  if (exported.ok()) {
    const auto again = frontend::ImportOnnxBytes(exported->ToString(), "", {.model_name = "m"});
    EXPECT_TRUE(again.ok()) << again.status();
    if (again.ok()) expect_same(RunGraphs({again->graph}, 0, inputs), "exported");
  }
  const auto fused = passes::FuseModels({graph, graph}, {"a", "b"});
  EXPECT_TRUE(fused.ok()) << fused.status();
  if (fused.ok()) expect_same(RunGraphs(fused->graphs, 1, inputs), "fused");
  return results;
}

std::vector<float> FloatsOf(const Tensor& tensor) {
  const auto values = tensor.as<float>();
  return {values.begin(), values.end()};
}

// ---- If
// ------------------------------------------------------------------------------------------

/// y = cond ? Relu(x + w) : x * v, t = the branch's own constant.
const std::string kThen = FloatsText("w", {1, 2}, {2}) + FloatsText("t", {5}, {1}) +
                          NodeText("Add", {"x", "w"}, {"s"}) + NodeText("Relu", {"s"}, {"yt"}) +
                          OutputText("yt") + OutputText("t");
const std::string kElse = FloatsText("e", {7}, {1}) + NodeText("Mul", {"x", "v"}, {"ye"}) +
                          OutputText("ye") + OutputText("e");
const std::string kIf = InputText("cond", {}, kBool) + InputText("x", {"2"}) +
                        FloatsText("v", {3, 4}, {2}) + OutputText("y") + OutputText("k") +
                        NodeText("If", {"cond"}, {"y", "k"},
                                 "name: \"choice\" " + GraphAttribute("then_branch", kThen) +
                                     GraphAttribute("else_branch", kElse));

TEST(ControlFlow, IfRunsTheChosenBranch) {
  const Tensor x = Floats({2}, {-1.5F, 1});
  auto results = RunModel(kIf, {Truth(true), x});
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(FloatsOf(results[0]), (std::vector<float>{0, 3}));
  EXPECT_EQ(FloatsOf(results[1]), (std::vector<float>{5}));
  results = RunModel(kIf, {Truth(false), x});
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(FloatsOf(results[0]), (std::vector<float>{-4.5F, 4}));
  EXPECT_EQ(FloatsOf(results[1]), (std::vector<float>{7}));
}

TEST(ControlFlow, IfGivesTheBitsOfTheBranchAlone) {
  const std::string weights = FloatsText("w", std::vector<float>(64, 0.3F), {8, 8});
  const auto body = [](const std::string& input, const std::string& suffix) {
    return NodeText("MatMul", {input, "w"}, {"p" + suffix}) +
           NodeText("Sigmoid", {"p" + suffix}, {"q" + suffix}) + OutputText("q" + suffix);
  };
  const std::string alone = InputText("x", {"4", "8"}) + weights + body("x", "");
  const std::string chosen =
      InputText("cond", {}, kBool) + InputText("x", {"4", "8"}) + OutputText("y") +
      NodeText("If", {"cond"}, {"y"},
               GraphAttribute("then_branch", weights + body("x", "1")) +
                   GraphAttribute("else_branch", NodeText("Neg", {"x"}, {"n"}) + OutputText("n")));
  Tensor x({ElementType::kFloat32, {4, 8}});
  float next = 0;
  for (float& value : x.as_mutable<float>()) value = next += 0.01F;
  ir::Graph graph = Import(alone);
  RunPasses(graph, passes::Stage::kConversion);
  const auto expected = RunGraphs({graph}, 0, {x});
  const auto found = RunModel(chosen, {Truth(true), x});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(FloatsOf(found[0]), FloatsOf(expected.at(0)));
}

TEST(ControlFlow, ResultsMayBeCapturedConstantOrEqual) {
  const std::string then_branch = NodeText("Relu", {"x"}, {"r"}) + OutputText("r") +
                                  OutputText("r") + OutputText("x") + OutputText("v");
  const std::string else_branch = NodeText("Identity", {"x"}, {"i"}) + OutputText("x") +
                                  OutputText("v") + OutputText("i") + OutputText("x");
  const std::string graph =
      InputText("cond", {"1"}, kBool) + InputText("x", {"2"}) + FloatsText("v", {3, 4}, {2}) +
      OutputText("a") + OutputText("b") + OutputText("c") + OutputText("d") +
      NodeText(
          "If", {"cond"}, {"a", "b", "c", "d"},
          GraphAttribute("then_branch", then_branch) + GraphAttribute("else_branch", else_branch));
  const Tensor x = Floats({2}, {-1, 2});
  const std::vector<float> v{3, 4};
  for (const bool cond : {true, false}) {
    Tensor condition({ElementType::kBool, {1}});
    condition.as_mutable<std::uint8_t>()[0] = cond ? 1 : 0;
    const auto results = RunModel(graph, {condition, x});
    ASSERT_EQ(results.size(), 4U);
    const std::vector<float> relu{0, 2};
    EXPECT_EQ(FloatsOf(results[0]), cond ? relu : FloatsOf(x));
    EXPECT_EQ(FloatsOf(results[1]), cond ? relu : v);
    EXPECT_EQ(FloatsOf(results[2]), FloatsOf(x));
    EXPECT_EQ(FloatsOf(results[3]), cond ? v : FloatsOf(x));
  }
}

TEST(ControlFlow, HalfPrecisionStaysInsideTheBranches) {
  ir::Graph graph = Import(kIf);
  RunPasses(graph, passes::Stage::kConversion, "fp16");
  const auto half = [](const std::vector<float>& values) {
    Tensor tensor({ElementType::kFloat16, {static_cast<std::int64_t>(values.size())}});
    for (std::size_t i = 0; i < values.size(); ++i) {
      tensor.as_mutable<Float16>()[i] = Float16(values[i]);
    }
    return tensor;
  };
  const auto results = RunGraphs({graph}, 0, {Truth(true), half({-1.5F, 1})});
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0].type().element, ElementType::kFloat16);
  EXPECT_EQ(static_cast<float>(results[0].as<Float16>()[1]), 3.0F);
}

// ---- Loop
// ----------------------------------------------------------------------------------------

std::string BodyControls() { return InputText("i", {}, kInt64) + InputText("c", {}, kBool); }

/// Swaps a and b every time and adds x to one of them; s stacks a.
std::string SwapLoop(const std::string& trip_count) {
  const std::string body = BodyControls() + InputText("a", {"2"}) + InputText("b", {"2"}) +
                           NodeText("Identity", {"c"}, {"go"}) +
                           NodeText("Add", {"b", "x"}, {"bx"}) + OutputText("go") +
                           OutputText("bx") + OutputText("a") + OutputText("a");
  return InputText("x", {"2"}) + InputText("b0", {"2"}) + trip_count +
         FloatsText("a0", {10, 20}, {2}) + OutputText("a9") + OutputText("b9") + OutputText("s") +
         NodeText("Loop", {"n", "", "a0", "b0"}, {"a9", "b9", "s"},
                  "name: \"swap\" " + GraphAttribute("body", body));
}

TEST(ControlFlow, LoopCarriesSwappedStates) {
  const auto results =
      RunModel(SwapLoop(IntsText("n", {3}, {})), {Floats({2}, {1, 2}), Floats({2}, {100, 200})});
  ASSERT_EQ(results.size(), 3U);
  // (10, 100) -> (101, 10) -> (11, 101) -> (102, 11)
  EXPECT_EQ(FloatsOf(results[0]), (std::vector<float>{102, 204}));
  EXPECT_EQ(FloatsOf(results[1]), (std::vector<float>{11, 22}));
  EXPECT_EQ(results[2].shape(), (Shape{3, 2}));
  EXPECT_EQ(FloatsOf(results[2]), (std::vector<float>{10, 20, 101, 202, 11, 22}));
}

TEST(ControlFlow, LoopThatNeverRunsGivesItsInitialValues) {
  const auto results =
      RunModel(SwapLoop(IntsText("n", {0}, {})), {Floats({2}, {1, 2}), Floats({2}, {100, 200})});
  ASSERT_EQ(results.size(), 3U);
  EXPECT_EQ(FloatsOf(results[0]), (std::vector<float>{10, 20}));
  EXPECT_EQ(FloatsOf(results[1]), (std::vector<float>{100, 200}));
  EXPECT_EQ(results[2].shape(), (Shape{0, 2}));
}

TEST(ControlFlow, StackingNeedsABound) {
  const auto model = frontend::ImportText(SwapLoop(InputText("n", {}, kInt64)));
  EXPECT_EQ(frontend::ErrorOf(model),
            "m: node 'swap' (Loop, opset 17, inputs int64[], -, float32[2], float32[2]): stacks "
            "values of a number of iterations that is not known when compiling; freeze the input "
            "that the trip count comes from");
}

/// Doubles x until it is at least `limit`; counts.
std::string Doubling(const std::string& trip_count, const std::string& more_outputs,
                     const std::string& more_results) {
  const std::string body = BodyControls() + InputText("v", {}) + InputText("k", {}, kInt64) +
                           NodeText("Add", {"v", "v"}, {"v2"}) +
                           NodeText("Add", {"k", "one"}, {"k2"}) +
                           NodeText("Less", {"v2", "limit"}, {"go"}) + OutputText("go") +
                           OutputText("v2") + OutputText("k2") + more_results;
  std::vector<std::string> outputs{"y", "count"};
  if (!more_outputs.empty()) outputs.push_back(more_outputs);
  std::string declared;
  for (const std::string& output : outputs) declared += OutputText(output);
  return InputText("x", {}) + InputText("limit", {}) + IntsText("one", {1}, {}) +
         IntsText("zero", {0}, {}) + trip_count + declared +
         NodeText("Less", {"x", "limit"}, {"start"}) +
         NodeText("Loop", {trip_count.empty() ? "" : "n", "start", "x", "zero"}, outputs,
                  "name: \"doubling\" " + GraphAttribute("body", body));
}

TEST(ControlFlow, LoopEndsByItsCondition) {
  for (const auto& [x, y, count] : std::vector<std::array<float, 3>>{{1, 128, 7}, {200, 200, 0}}) {
    const auto results = RunModel(Doubling("", "", ""), {Floats({}, {x}), Floats({}, {100})});
    ASSERT_EQ(results.size(), 2U);
    EXPECT_EQ(FloatsOf(results[0]), (std::vector<float>{y}));
    EXPECT_EQ(results[1].as<std::int64_t>()[0], static_cast<std::int64_t>(count));
  }
}

TEST(ControlFlow, LoopTakesItsTripCountAtRunTime) {
  const std::string model = Doubling(InputText("n", {"1"}, kInt64), "", "");
  for (const std::int64_t n : {-1, 0, 3, 50}) {
    Tensor trip({ElementType::kInt64, {1}}, &n);
    const auto results = RunModel(model, {Floats({}, {1}), Floats({}, {100}), trip});
    ASSERT_EQ(results.size(), 2U);
    const float expected = n == 3 ? 8.0F : n == 50 ? 128.0F : 1.0F;
    EXPECT_EQ(FloatsOf(results[0]), (std::vector<float>{expected}));
  }
}

TEST(ControlFlow, StackedResultsOfALoopThatEndsEarlyAreAsLongAsItRan) {
  const std::string model = Doubling(IntsText("n", {10}, {}), "all", OutputText("v2"));
  const auto results = RunModel(model, {Floats({}, {16}), Floats({}, {100})});
  ASSERT_EQ(results.size(), 3U);
  EXPECT_EQ(FloatsOf(results[2]), (std::vector<float>{32, 64, 128}));
}

/// A loop as TensorFlow writes while: counts from 0 to `end`, adds x and stacks the sums, which are
/// multiplied by x.
std::string While(const std::string& trip_count, std::int64_t end) {
  const std::string body =
      BodyControls() + InputText("k", {}, kInt64) + InputText("v", {"2"}) +
      NodeText("Add", {"k", "one"}, {"k2"}) + NodeText("Add", {"v", "x"}, {"v2"}) +
      NodeText("Less", {"k2", "end"}, {"counts"}) + NodeText("Less", {"i", "many"}, {"is_early"}) +
      NodeText("And", {"counts", "is_early"}, {"go"}) + OutputText("go") + OutputText("k2") +
      OutputText("v2") + OutputText("v2");
  return InputText("x", {"2"}) + IntsText("one", {1}, {}) + IntsText("zero", {0}, {}) +
         IntsText("end", {end}, {}) + IntsText("many", {100}, {}) + trip_count +
         OutputText("last") + OutputText("count") + OutputText("y") +
         NodeText("Loop", {trip_count.empty() ? "" : "n", "", "zero", "x"}, {"count", "last", "s"},
                  "name: \"while\" " + GraphAttribute("body", body)) +
         NodeText("MatMul", {"s", "x"}, {"y"});
}

TEST(ControlFlow, WhileLoopsThatCountHaveALength) {
  const std::string bound = IntsText("n", {std::numeric_limits<std::int32_t>::max()}, {});
  for (const std::string& trip_count : {bound, std::string(), IntsText("n", {2}, {})}) {
    for (const std::int64_t end : {3, 1, -5}) {
      const std::int64_t most = trip_count == IntsText("n", {2}, {}) ? 2 : 100;
      const std::int64_t count = std::clamp<std::int64_t>(end, 1, most);
      SCOPED_TRACE(trip_count + std::to_string(end));
      const std::string model = While(trip_count, end);
      const ir::Graph imported = Import(model);
      EXPECT_EQ(imported.type(imported.outputs[2]).shape, (Shape{count}));
      const auto results = RunModel(model, {Floats({2}, {1, 2})});
      ASSERT_EQ(results.size(), 3U);
      const auto n = static_cast<float>(count);
      EXPECT_EQ(FloatsOf(results[0]), (std::vector<float>{n + 1, 2 * n + 2}));
      EXPECT_EQ(results[1].as<std::int64_t>()[0], count);
      std::vector<float> products;
      for (std::int64_t i = 0; i < count; ++i) products.push_back(5 * static_cast<float>(i + 2));
      EXPECT_EQ(FloatsOf(results[2]), products);
    }
  }
}

/// The condition needs a second output, of a node whose first one nobody wants.
TEST(ControlFlow, CountersMayLeaveOutputsOut) {
  const std::string body =
      BodyControls() + InputText("k", {"1"}, kInt64) + InputText("v", {"2"}) +
      NodeText("Add", {"k", "one"}, {"k2"}) + NodeText("Add", {"v", "x"}, {"v2"}) +
      NodeText("TopK", {"k2", "one"}, {"", "at"}) + NodeText("Add", {"at", "k2"}, {"sum"}) +
      NodeText("Less", {"sum", "end"}, {"go"}) + OutputText("go") + OutputText("k2") +
      OutputText("v2") + OutputText("v2");
  const std::string model = InputText("x", {"2"}) + IntsText("one", {1}, {1}) +
                            IntsText("zero", {0}, {1}) + IntsText("end", {3}, {1}) +
                            IntsText("n", {50}, {}) + OutputText("s") +
                            NodeText("Loop", {"n", "", "zero", "x"}, {"", "", "s"},
                                     "name: \"while\" " + GraphAttribute("body", body));
  const auto results = RunModel(model, {Floats({2}, {1, 2})});
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].shape(), (Shape{3, 2}));
  EXPECT_EQ(FloatsOf(results[0]), (std::vector<float>{2, 4, 3, 6, 4, 8}));
}

TEST(ControlFlow, KnownLoopsAreComputed) {
  // Each round appends to a list: the type of what is carried changes.
  const std::string body = BodyControls() + InputText("list", {"0"}) +
                           NodeText("Cast", {"i"}, {"f"}, IntAttribute("to", 1)) +
                           NodeText("Unsqueeze", {"f", "axes"}, {"f1"}) +
                           NodeText("Concat", {"list", "f1"}, {"longer"}, IntAttribute("axis", 0)) +
                           OutputText("c") + OutputText("longer");
  const std::string graph =
      IntsText("n", {4}, {}) + IntsText("axes", {0}, {1}) + FloatsText("empty", {}, {0}) +
      OutputText("y") + NodeText("Loop", {"n", "", "empty"}, {"y"}, GraphAttribute("body", body));
  const ir::Graph imported = Import(graph);
  EXPECT_TRUE(imported.nodes.empty());
  ASSERT_EQ(imported.outputs.size(), 1U);
  const Tensor* y = imported.ConstantOf(imported.outputs[0]);
  ASSERT_NE(y, nullptr);
  EXPECT_EQ(FloatsOf(*y), (std::vector<float>{0, 1, 2, 3}));
}

TEST(ControlFlow, LoopsThatNeedTheirIterationAreUnrolled) {
  // Slice wants constants: x[i : i + 2] summed up.
  const std::string body = BodyControls() + InputText("sum", {"2"}) +
                           NodeText("Unsqueeze", {"i", "axes"}, {"start"}) +
                           NodeText("Add", {"start", "two"}, {"end"}) +
                           NodeText("Slice", {"x", "start", "end"}, {"part"}) +
                           NodeText("Add", {"sum", "part"}, {"sum2"}) + OutputText("c") +
                           OutputText("sum2") + OutputText("part");
  const std::string graph =
      InputText("x", {"4"}) + InputText("s0", {"2"}) + IntsText("n", {3}, {}) +
      IntsText("axes", {0}, {1}) + IntsText("two", {2}, {1}) + OutputText("y") +
      OutputText("parts") +
      NodeText("Loop", {"n", "", "s0"}, {"y", "parts"}, GraphAttribute("body", body));
  const auto results = RunModel(graph, {Floats({4}, {1, 2, 3, 4}), Floats({2}, {10, 20})});
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(FloatsOf(results[0]), (std::vector<float>{16, 29}));
  EXPECT_EQ(results[1].shape(), (Shape{3, 2}));
  EXPECT_EQ(FloatsOf(results[1]), (std::vector<float>{1, 2, 2, 3, 3, 4}));
}

TEST(ControlFlow, IfInsideLoopInsideIf) {
  // In every second iteration v grows by w, else it is halved; all of that only if cond.
  const std::string grow = NodeText("Add", {"v", "w"}, {"grown"}) + OutputText("grown");
  const std::string halve = NodeText("Mul", {"v", "half"}, {"halved"}) + OutputText("halved");
  const std::string body =
      BodyControls() + InputText("v", {"2"}) + NodeText("Mod", {"i", "two"}, {"rest"}) +
      NodeText("Equal", {"rest", "zero"}, {"even"}) +
      NodeText("If", {"even"}, {"v2"},
               GraphAttribute("then_branch", grow) + GraphAttribute("else_branch", halve)) +
      OutputText("c") + OutputText("v2");
  const std::string loop =
      FloatsText("half", {0.5F}, {}) +
      NodeText("Loop", {"n", "", "x"}, {"looped"}, GraphAttribute("body", body)) +
      OutputText("looped");
  const std::string graph =
      InputText("cond", {}, kBool) + InputText("x", {"2"}) + InputText("w", {"2"}) +
      IntsText("n", {5}, {}) + IntsText("two", {2}, {}) + IntsText("zero", {0}, {}) +
      OutputText("y") +
      NodeText(
          "If", {"cond"}, {"y"},
          GraphAttribute("then_branch", loop) +
              GraphAttribute("else_branch", NodeText("Neg", {"x"}, {"n1"}) + OutputText("n1")));
  const Tensor x = Floats({2}, {8, 16});
  const Tensor w = Floats({2}, {2, 4});
  auto results = RunModel(graph, {Truth(true), x, w});
  ASSERT_EQ(results.size(), 1U);
  // 8 -> 10 -> 5 -> 7 -> 3.5 -> 5.5
  EXPECT_EQ(FloatsOf(results[0]), (std::vector<float>{5.5F, 11}));
  results = RunModel(graph, {Truth(false), x, w});
  EXPECT_EQ(FloatsOf(results.at(0)), (std::vector<float>{-8, -16}));
}

// ---- Scan
// ----------------------------------------------------------------------------------------

TEST(ControlFlow, ScanSumsForwardsAndBackwards) {
  const std::string body =
      InputText("sum", {"2"}) + InputText("row", {"2"}) + InputText("column", {"2"}) +
      NodeText("Add", {"sum", "row"}, {"s1"}) + NodeText("Sub", {"s1", "column"}, {"s2"}) +
      NodeText("Identity", {"s2"}, {"s3"}) + OutputText("s2") + OutputText("s3") + OutputText("s1");
  // Rows forwards along axis 0, columns of the second backwards along axis 1; the first result
  // is stacked along the last axis, the second backwards.
  const std::string graph =
      InputText("s0", {"2"}) + InputText("x", {"3", "2"}) + InputText("z", {"2", "3"}) +
      OutputText("s") + OutputText("a") + OutputText("b") +
      NodeText("Scan", {"s0", "x", "z"}, {"s", "a", "b"},
               "name: \"scan\" " + GraphAttribute("body", body) +
                   IntAttribute("num_scan_inputs", 2) + IntsAttribute("scan_input_axes", {0, -1}) +
                   IntsAttribute("scan_input_directions", {0, 1}) +
                   IntsAttribute("scan_output_axes", {-1, 0}) +
                   IntsAttribute("scan_output_directions", {0, 1}));
  const auto results = RunModel(graph, {Floats({2}, {100, 200}), Floats({3, 2}, {1, 2, 3, 4, 5, 6}),
                                        Floats({2, 3}, {10, 20, 30, 40, 50, 60})});
  ASSERT_EQ(results.size(), 3U);
  // 100 + 1 - 30 = 71, + 3 - 20 = 54, + 5 - 10 = 49; 200 + 2 - 60 = 142, + 4 - 50 = 96, + 6 - 40 =
  // 62
  EXPECT_EQ(FloatsOf(results[0]), (std::vector<float>{49, 62}));
  EXPECT_EQ(results[1].shape(), (Shape{2, 3}));
  EXPECT_EQ(FloatsOf(results[1]), (std::vector<float>{71, 54, 49, 142, 96, 62}));
  EXPECT_EQ(results[2].shape(), (Shape{3, 2}));
  EXPECT_EQ(FloatsOf(results[2]), (std::vector<float>{59, 102, 74, 146, 101, 202}));
}

TEST(ControlFlow, TheOldestScanHasABatchAndLengths) {
  const std::string body = InputText("sum", {"1"}) + InputText("item", {"1"}) +
                           NodeText("Add", {"sum", "item"}, {"next"}) +
                           NodeText("Identity", {"next"}, {"out"}) + OutputText("next") +
                           OutputText("out");
  const auto graph = [&](const std::string& lengths, const std::string& directions) {
    return InputText("s0", {"2", "1"}) + InputText("x", {"2", "3", "1"}) +
           (lengths.empty() ? "" : IntsText(lengths, {2, 3}, {2})) + OutputText("s") +
           OutputText("all") +
           NodeText("Scan", {lengths, "s0", "x"}, {"s", "all"},
                    GraphAttribute("body", body) + IntAttribute("num_scan_inputs", 1) + directions);
  };
  const Tensor s0 = Floats({2, 1}, {0, 100});
  const Tensor x = Floats({2, 3, 1}, {1, 2, 3, 4, 5, 6});
  auto results = RunModel(graph("", ""), {s0, x}, 8);
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0].shape(), (Shape{2, 1}));
  EXPECT_EQ(FloatsOf(results[0]), (std::vector<float>{6, 115}));
  EXPECT_EQ(results[1].shape(), (Shape{2, 3, 1}));
  EXPECT_EQ(FloatsOf(results[1]), (std::vector<float>{1, 3, 6, 104, 109, 115}));
  results = RunModel(graph("lengths", ""), {s0, x}, 8);
  EXPECT_EQ(FloatsOf(results.at(0)), (std::vector<float>{3, 115}));
  EXPECT_EQ(FloatsOf(results.at(1)), (std::vector<float>{1, 3, 0, 104, 109, 115}));
  results = RunModel(graph("", IntsAttribute("directions", {1})), {s0, x}, 8);
  EXPECT_EQ(FloatsOf(results.at(1)), (std::vector<float>{3, 5, 6, 106, 111, 115}));
}

/// h = Tanh(x_t W + h R) over a sequence of 6 steps, with weights inside the loop.
TEST(ControlFlow, ARecurrentNetworkWrittenAsScan) {
  constexpr std::size_t steps = 6;
  constexpr std::size_t width = 8;
  std::vector<float> w(width * width);
  std::vector<float> r(width * width);
  for (std::size_t i = 0; i < w.size(); ++i) {
    w[i] = static_cast<float>(i % 7) * 0.05F - 0.1F;
    r[i] = static_cast<float>(i % 5) * 0.04F - 0.08F;
  }
  const std::string body =
      InputText("h", {"1", "8"}) + InputText("xt", {"1", "8"}) +
      NodeText("MatMul", {"xt", "w"}, {"a"}) + NodeText("MatMul", {"h", "r"}, {"b"}) +
      NodeText("Add", {"a", "b"}, {"s"}) + NodeText("Tanh", {"s"}, {"h2"}) +
      NodeText("Identity", {"h2"}, {"out"}) + OutputText("h2") + OutputText("out");
  const std::string graph =
      InputText("h0", {"1", "8"}) + InputText("x", {"6", "1", "8"}) + FloatsText("w", w, {8, 8}) +
      FloatsText("r", r, {8, 8}) + OutputText("last") + OutputText("all") +
      NodeText("Scan", {"h0", "x"}, {"last", "all"},
               GraphAttribute("body", body) + IntAttribute("num_scan_inputs", 1));
  std::vector<float> x(steps * width);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 11) * 0.1F - 0.5F;
  const auto results =
      RunModel(graph, {Floats({1, 8}, std::vector<float>(width, 0.1F)), Floats({6, 1, 8}, x)});
  ASSERT_EQ(results.size(), 2U);
  std::vector<double> h(width, static_cast<double>(0.1F));
  for (std::size_t t = 0; t < steps; ++t) {
    std::vector<double> next(width, 0);
    for (std::size_t n = 0; n < width; ++n) {
      for (std::size_t k = 0; k < width; ++k) {
        next[n] += static_cast<double>(x[t * width + k]) * static_cast<double>(w[k * width + n]) +
                   h[k] * static_cast<double>(r[k * width + n]);
      }
      next[n] = std::tanh(next[n]);
    }
    h = next;
    for (std::size_t n = 0; n < width; ++n) {
      EXPECT_NEAR(static_cast<double>(results[1].as<float>()[t * width + n]), h[n], 1e-5);
    }
  }
}

TEST(ControlFlow, FusedModelsCanBeReadBack) {
  ir::Graph chosen = Import(kIf);
  ir::Graph loop = Import(SwapLoop(IntsText("n", {3}, {})));
  const auto fused = passes::FuseModels({chosen, loop}, {"a", "b"});
  ASSERT_TRUE(fused.ok()) << fused.status();
  const auto bytes = emit::ExportFusedOnnx(fused->graphs);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  const auto again = frontend::ImportOnnxBytes(bytes->ToString(), "", {.model_name = "m"});
  ASSERT_TRUE(again.ok()) << again.status();
  const Tensor x = Floats({2}, {1, 2});
  for (const std::uint32_t index : {0U, 1U}) {
    const Tensor selected({ElementType::kUint32, {1}}, &index);
    const auto results =
        RunGraphs({again->graph}, 0, {Truth(true), x, x, Floats({2}, {100, 200}), selected});
    ASSERT_EQ(results.size(), 5U);
    EXPECT_EQ(FloatsOf(results[0]),
              index == 0 ? (std::vector<float>{2, 4}) : std::vector<float>(2));
    EXPECT_EQ(FloatsOf(results[2]),
              index == 1 ? (std::vector<float>{102, 204}) : std::vector<float>(2));
  }
}

}  // namespace
}  // namespace poprt
