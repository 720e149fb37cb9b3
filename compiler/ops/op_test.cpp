#include "compiler/ops/op.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <set>
#include <string>

#include "compiler/ops/infer_text.hpp"
#include "runtime/kernels/kernel.hpp"

namespace poprt::ops {
namespace {

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

/// Operators without a kernel: the compiler folds or rewrites them, or the device runs their
/// bodies.
const std::set<std::string_view> kCompilerOnly = {"CastLike", "Dropout", "If",   "Loop",    "Scan",
                                                  "Scatter",  "Shape",   "Size", "Upsample"};

TEST(OpTableTest, RowsAreSortedUniqueAndComplete) {
  const auto ops = AllOps();
  ASSERT_GE(ops.size(), 135U);
  for (std::size_t i = 0; i < ops.size(); ++i) {
    SCOPED_TRACE(ops[i].name);
    if (i > 0) {
      EXPECT_LT(ops[i - 1].name, ops[i].name);
    }
    EXPECT_NE(ops[i].infer, nullptr);
    EXPECT_GE(ops[i].since, 1);
    EXPECT_LE(ops[i].inputs.min, ops[i].inputs.max);
    EXPECT_GE(ops[i].outputs.min, 1U);
    EXPECT_LE(ops[i].outputs.min, ops[i].outputs.max);
    EXPECT_EQ(FindOp(ops[i].name), &ops[i]);
  }
}

TEST(OpTableTest, StaticInputsAreInOrderAndNamed) {
  for (const OpDef& op : AllOps()) {
    SCOPED_TRACE(op.name);
    for (std::size_t i = 0; i < op.static_inputs.size(); ++i) {
      EXPECT_FALSE(op.static_inputs[i].attribute.empty());
      EXPECT_LE(op.static_inputs[i].input_since, kNewestOpset);
      if (i > 0) {
        EXPECT_LT(op.static_inputs[i - 1].index, op.static_inputs[i].index);
      }
    }
  }
}

TEST(OpTableTest, NoOperatorIsNewerThanTheNewestOpset) {
  for (const OpDef& op : AllOps()) EXPECT_LE(op.since, kNewestOpset) << op.name;
}

TEST(OpTableTest, EveryOperatorHasAKernelOrIsCompilerOnly) {
  for (const OpDef& op : AllOps()) {
    SCOPED_TRACE(op.name);
    EXPECT_EQ(kernels::FindKernel(op.name) == nullptr, kCompilerOnly.contains(op.name));
  }
}

TEST(OpTableTest, TypeOnlyOperators) {
  std::set<std::string_view> found;
  for (const OpDef& op : AllOps()) {
    if (op.type_only) found.insert(op.name);
  }
  EXPECT_EQ(found, (std::set<std::string_view>{"BlackmanWindow", "ConstantOfShape", "EyeLike",
                                               "HammingWindow", "HannWindow", "MelWeightMatrix",
                                               "Range", "Shape", "Size"}));
}

TEST(OpTableTest, UnknownNamesAreNotFound) {
  EXPECT_EQ(FindOp(""), nullptr);
  EXPECT_EQ(FindOp("Abz"), nullptr);
  EXPECT_EQ(FindOp("abs"), nullptr);
}

TEST(OpTableTest, ContainsKnowsTheSets) {
  EXPECT_FALSE(Contains(TypeSet::kAll, ElementType::kUndefined));
  EXPECT_TRUE(Contains(TypeSet::kAll, ElementType::kBool));
  EXPECT_FALSE(Contains(TypeSet::kNumeric, ElementType::kBool));
  EXPECT_TRUE(Contains(TypeSet::kNumeric, ElementType::kUint8));
  EXPECT_FALSE(Contains(TypeSet::kSigned, ElementType::kUint8));
  EXPECT_TRUE(Contains(TypeSet::kSigned, ElementType::kInt8));
  EXPECT_TRUE(Contains(TypeSet::kSigned, ElementType::kFloat16));
  EXPECT_TRUE(Contains(TypeSet::kFloat, ElementType::kBFloat16));
  EXPECT_FALSE(Contains(TypeSet::kFloat, ElementType::kInt32));
  EXPECT_TRUE(Contains(TypeSet::kInteger, ElementType::kInt64));
  EXPECT_FALSE(Contains(TypeSet::kInteger, ElementType::kBool));
  EXPECT_TRUE(Contains(TypeSet::kUnsigned, ElementType::kUint64));
  EXPECT_FALSE(Contains(TypeSet::kUnsigned, ElementType::kInt64));
  EXPECT_TRUE(Contains(TypeSet::kBool, ElementType::kBool));
}

TEST(InferTypesTest, ChecksArity) {
  EXPECT_EQ(InferText("Add", {F32({2})}), "has 1 inputs, allowed are 2");
  EXPECT_EQ(InferText("Gemm", {}), "has 0 inputs, allowed are 2 to 3");
  EXPECT_EQ(InferText("Concat", {}), "has 0 inputs, allowed are 1 or more");
  EXPECT_EQ(InferText("Relu", {F32({2})}, {}, 2), "has 2 outputs, allowed are 1");
  EXPECT_EQ(InferText("MaxPool", {F32({2})}, {}, 3), "has 3 outputs, allowed are 1 to 2");
  EXPECT_EQ(InferText("Add", {{}, F32({2})}), "input 0 is missing");
  EXPECT_EQ(InferText("Sum", {F32({2}), {}, F32({2})}), "input 1 is missing");
}

TEST(InferTypesTest, TrailingAbsentInputsAreNoInputs) {
  EXPECT_EQ(InferText("Relu", {F32({2}), {}, {}}), "float32[2]");
  EXPECT_EQ(InferText("Sum", {F32({2}), {}}), "float32[2]");
  EXPECT_EQ(InferText("Relu", {{}}), "has 0 inputs, allowed are 1");
}

TEST(InferTypesTest, ChecksTheFirstElementType) {
  EXPECT_EQ(InferText("Exp", {I32({2})}), "input 0 is int32[2], its elements must be floats");
  EXPECT_EQ(InferText("Neg", {U8({2})}),
            "input 0 is uint8[2], its elements must be floats or signed integers");
  EXPECT_EQ(InferText("Add", {Bools({}), Bools({})}),
            "input 0 is bool[], its elements must be numbers");
  EXPECT_EQ(InferText("Not", {F32({})}), "input 0 is float32[], its elements must be bool");
  EXPECT_EQ(InferText("BitwiseNot", {F32({})}),
            "input 0 is float32[], its elements must be integers");
}

TEST(InferTypesTest, RefusesInvalidTypes) {
  EXPECT_EQ(InferText("Relu", {F32({-1})}), "input 0 is float32[-1], which is not a valid type");
  EXPECT_EQ(InferText("Expand", {F32({1})}, {{"shape", Ints{kHuge}}}),
            "output 0 would be float32[9223372036854775807], which is too large");
  EXPECT_EQ(InferText("Tile", {F32({3})}, {{"repeats", Ints{kHuge}}}),
            "an extent is larger than an int64 can hold");
}

TEST(InferTypesTest, ReportsAttributesOfAnotherType) {
  const auto status = InferTypes(*FindOp("Softmax"), {"Softmax", {F32({2})}, {{"axis", 1.0F}}, 1});
  EXPECT_EQ(status.status(), absl::InvalidArgumentError("attribute 'axis' is not an integer"));
}

/// One attribute value, more often nonsense than not.
AttributeValue RandomValue(std::mt19937& random) {
  const auto number = [&]() -> std::int64_t {
    static constexpr std::int64_t kNumbers[] = {0,  1, 2,       3,     4,      -1,        -2,
                                                -5, 7, 1 << 20, kHuge, -kHuge, -kHuge - 1};
    return kNumbers[random() % std::size(kNumbers)];
  };
  switch (random() % 8) {
    case 0:
      return std::string(random() % 2 == 0 ? "SAME_UPPER" : "nonsense");
    case 1:
      return static_cast<float>(number());
    case 2:
      return Floats(random() % 5, random() % 3 == 0 ? std::numeric_limits<float>::quiet_NaN()
                                                    : static_cast<float>(number()));
    case 3:
      return Tensor(F32({static_cast<std::int64_t>(random() % 3)}));
    case 4:
    case 5:
      return number();
    default: {
      Ints values(random() % 6);
      for (std::int64_t& value : values) value = number();
      return values;
    }
  }
}

TensorType RandomType(std::mt19937& random) {
  static constexpr ElementType kElements[] = {ElementType::kFloat32, ElementType::kInt64,
                                              ElementType::kBool, ElementType::kUint8};
  static constexpr std::int64_t kExtents[] = {0, 1, 2, 3, 4, 8, std::int64_t{1} << 31, kHuge};
  TensorType type{kElements[random() % std::size(kElements) * (random() % 2)], {}};
  type.shape.resize(random() % 5);
  for (std::int64_t& extent : type.shape) {
    extent = kExtents[random() % (random() % 8 == 0 ? std::size(kExtents) : 5)];
  }
  return random() % 16 == 0 ? TensorType{} : type;
}

TEST(InferTypesTest, SurvivesNonsense) {
  static constexpr std::string_view kNames[] = {
      "allowzero",      "approximate",  "auto_pad",  "axes",          "axis",       "batch_axis",
      "batch_dims",     "blocksize",    "ceil_mode", "delta",         "depth",      "dilations",
      "direction",      "dtype",        "end",       "ends",          "group",      "k",
      "keepdims",       "kernel_shape", "limit",     "mode",          "num_groups", "num_outputs",
      "output_padding", "output_shape", "p",         "pads",          "perm",       "ratio",
      "reduction",      "repeats",      "roi",       "scales",        "shape",      "size",
      "sizes",          "split",        "start",     "starts",        "stash_type", "steps",
      "strides",        "time_axis",    "to",        "training_mode", "transA",     "value"};
  const unsigned seed = 20240517;
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (const OpDef& op : AllOps()) {
    SCOPED_TRACE(op.name);
    for (int round = 0; round < 200; ++round) {
      Attributes attributes;
      for (const std::string_view name : kNames) {
        if (random() % 4 == 0) attributes.set(name, RandomValue(random));
      }
      std::vector<TensorType> inputs(op.inputs.min + random() % 2);
      for (TensorType& type : inputs) type = RandomType(random);
      const std::size_t outputs = 1 + random() % 2;
      const auto types = InferTypes(op, {op.name, inputs, attributes, outputs});
      if (!types.ok()) {
        EXPECT_FALSE(types.status().message().empty());
        continue;
      }
      ASSERT_EQ(types->size(), outputs);
      for (const TensorType& type : *types) {
        EXPECT_TRUE(type.defined());
        EXPECT_TRUE(CheckedElementCount(type.shape).has_value());
      }
    }
  }
}

}  // namespace
}  // namespace poprt::ops
