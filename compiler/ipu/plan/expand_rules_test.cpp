#include <gtest/gtest.h>

#include <map>
#include <set>

#include "compiler/ipu/plan/operation.hpp"
#include "compiler/ops/op.hpp"

namespace poprt::ipu {
namespace {

TensorType Half(Shape shape) { return {ElementType::kFloat16, std::move(shape)}; }

struct Call {
  std::vector<TensorType> inputs;
  std::vector<TensorType> outputs;
  Attributes attributes = {};
};

/// Operators that move nothing.
const std::set<std::string_view> kViews = {"Identity",  "Reshape",   "Flatten", "Squeeze",
                                           "Unsqueeze", "Transpose", "Dropout", "BitCast",
                                           "Slice",     "Split"};

/// Operators whose regions a test of graphs has.
const std::set<std::string_view> kRegions = {"If", "Loop"};

const TensorType kData = Half({2, 8, 16, 16});
const TensorType kIndices{ElementType::kInt32, {2, 8}};
const TensorType kBytes{ElementType::kUint8, {2, 8, 16, 16}};
const TensorType kScalar = Half({});

/// A call of every operator that does not take operands of one shape.
Call CallOf(const ops::OpDef& op) {
  static const std::map<std::string_view, Call> calls = {
      {"Cast", {{kData}, {{ElementType::kFloat32, kData.shape}}}},
      {"CastLike", {{kData, kIndices}, {{ElementType::kInt32, kData.shape}}}},
      {"BitCast", {{kData}, {{ElementType::kInt16, kData.shape}}}},
      {"MatMul", {{Half({64, 32}), Half({32, 48})}, {Half({64, 48})}}},
      {"Gemm", {{Half({64, 32}), Half({32, 48}), Half({48})}, {Half({64, 48})}}},
      {"Conv", {{kData, Half({16, 8, 3, 3}), Half({16})}, {Half({2, 16, 16, 16})}}},
      {"ConvTranspose", {{kData, Half({8, 16, 3, 3})}, {Half({2, 16, 16, 16})}}},
      {"DeformConv", {{kData, Half({16, 8, 3, 3}), kData}, {Half({2, 16, 16, 16})}}},
      {"Einsum",
       {{Half({64, 32}), Half({32, 48})},
        {Half({64, 48})},
        {{"equation", std::string("ik,kj->ij")}}}},
      {"Gather", {{kData, kIndices}, {Half({2, 8, 8, 16, 16})}}},
      {"GatherND", {{Half({8, 16, 16}), {ElementType::kInt32, {4, 2}}}, {Half({4, 16})}}},
      {"ScatterND",
       {{Half({8, 16, 16}), {ElementType::kInt32, {4, 2}}, Half({4, 16})}, {Half({8, 16, 16})}}},
      {"Expand", {{Half({2, 8, 1, 16})}, {kData}}},
      {"Tile", {{Half({2, 8, 1, 16})}, {kData}}},
      {"RNN", {{Half({5, 4, 32}), Half({1, 64, 32}), Half({1, 64, 64})}, {Half({5, 1, 4, 64})}}},
      {"GRU", {{Half({5, 4, 32}), Half({1, 192, 32}), Half({1, 192, 64})}, {Half({5, 1, 4, 64})}}},
      {"LSTM", {{Half({5, 4, 32}), Half({1, 256, 32}), Half({1, 256, 64})}, {Half({5, 1, 4, 64})}}},
      {"MatMulInteger",
       {{{ElementType::kUint8, {64, 32}}, {ElementType::kInt8, {32, 48}}},
        {{ElementType::kInt32, {64, 48}}}}},
      {"QLinearMatMul",
       {{{ElementType::kUint8, {64, 32}},
         kScalar,
         kScalar,
         {ElementType::kInt8, {32, 48}},
         kScalar,
         kScalar,
         kScalar,
         kScalar},
        {{ElementType::kUint8, {64, 48}}}}},
      {"ConvInteger",
       {{kBytes, {ElementType::kInt8, {16, 8, 3, 3}}}, {{ElementType::kInt32, {2, 16, 16, 16}}}}},
      {"QLinearConv",
       {{kBytes,
         kScalar,
         kScalar,
         {ElementType::kInt8, {16, 8, 3, 3}},
         kScalar,
         kScalar,
         kScalar,
         kScalar},
        {{ElementType::kUint8, {2, 16, 16, 16}}}}},
      {"BatchNormalization", {{kData, Half({8}), Half({8}), Half({8}), Half({8})}, {kData}}},
      {"QuantizeLinear", {{kData, kScalar}, {kBytes}}},
      {"DequantizeLinear", {{kBytes, kScalar}, {kData}}},
      {"TopK", {{kData}, {Half({2, 8, 16, 4}), {ElementType::kInt32, {2, 8, 16, 4}}}}},
      {"Resize", {{kData}, {Half({2, 8, 32, 32})}, {{"mode", std::string("linear")}}}},
  };
  const auto found = calls.find(op.name);
  if (found != calls.end()) return found->second;
  const std::size_t inputs =
      std::min<std::size_t>(std::max<std::size_t>(op.inputs.min, op.inputs.max > 1 ? 2 : 1), 8);
  Call call{std::vector<TensorType>(op.inputs.max == 0 ? 0 : inputs, kData),
            std::vector<TensorType>(std::max<std::size_t>(op.outputs.min, 1), kData)};
  if (op.name.starts_with("Reduce") || op.name.starts_with("Arg"))
    call.outputs = {Half({2, 8, 16, 1})};
  if (op.name.starts_with("Reduce")) call.attributes.set("axes", Ints{3});
  if (op.name.starts_with("Arg")) call.attributes.set("axis", std::int64_t{3});
  if (op.name.starts_with("Global")) call.outputs = {Half({2, 8, 1, 1})};
  if (op.name.ends_with("Pool")) call.attributes.set("kernel_shape", Ints{3, 3});
  return call;
}

TEST(ExpandRulesTest, EveryOperatorTakesCyclesAndPlacesItsResults) {
  const Target target = *FindTarget("ipu21");
  const PlanOptions options;
  const TileRange tiles{0, 1472};
  ProductPlanner planner(target, options, tiles.count);
  for (const ops::OpDef& op : ops::AllOps()) {
    if (kRegions.contains(op.name)) continue;
    SCOPED_TRACE(op.name);
    Call call = CallOf(op);
    ir::Node node;
    node.name = node.op = std::string(op.name);
    node.attributes = call.attributes;
    std::vector<Placed> inputs;
    for (const TensorType& type : call.inputs) {
      inputs.push_back({type, LinearLayout(target, tiles, type)});
    }
    StepBuilder steps(target, options, tiles, planner);
    Operation operation(node, inputs, call.outputs, steps);
    FindExpandRule(op.name)(operation);
    std::uint64_t cycles = 0;
    for (const Superstep& step : steps.steps()) {
      cycles += step.cycles * step.repeats;
      EXPECT_GT(step.cycles, 0U) << step.name;
      EXPECT_FALSE(step.name.empty());
      EXPECT_GT(step.tiles.count, 0U) << step.name;
      EXPECT_LE(step.tiles.first + step.tiles.count, 1472U) << step.name;
    }
    EXPECT_EQ(cycles > 0, !kViews.contains(op.name)) << cycles;
  }
}

TEST(ExpandRulesTest, UnknownOperatorsGetTheGenericEstimate) {
  EXPECT_EQ(FindExpandRule("NoSuchOperator"), &ExpandGeneric);
  EXPECT_EQ(FindExpandRule("Det"), &ExpandGeneric);
  EXPECT_NE(FindExpandRule("Relu"), &ExpandGeneric);
}

}  // namespace
}  // namespace poprt::ipu
