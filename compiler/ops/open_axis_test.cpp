#include "compiler/ops/open_axis.hpp"

#include <gtest/gtest.h>

#include "compiler/ops/infer_text.hpp"

// NonZero, Compress, Unique, NonMaxSuppression, and what may follow them.
namespace poprt::ops {
namespace {

constexpr std::int64_t kZero = 0;
constexpr std::int64_t kOne = 1;
constexpr std::int64_t kTwo = 2;

/// "0:1": output 0 is open along axis 1.
std::string OpenText(std::string_view op, std::vector<TensorType> inputs,
                     const Attributes& attributes = {}) {
  const OpDef& def = *FindOp(op);
  std::string text;
  for (const OpenOutput& open : def.open({op, std::move(inputs), attributes, def.outputs.min})) {
    text +=
        (text.empty() ? "" : " ") + std::to_string(open.output) + ":" + std::to_string(open.axis);
  }
  return text;
}

TEST(SelectionOpsTest, NonZero) {
  EXPECT_EQ(InferText("NonZero", {F32({2, 3})}, {}, 2), "int64[2, 6]; int64[]");
  EXPECT_EQ(InferText("NonZero", {Bools({})}, {}, 2), "int64[1, 1]; int64[]");
  EXPECT_EQ(OpenText("NonZero", {F32({2, 3})}), "0:1");
}

TEST(SelectionOpsTest, Compress) {
  EXPECT_EQ(InferText("Compress", {F16({2, 3}), Bools({5})}, {}, 2), "float16[5]; int64[]");
  EXPECT_EQ(InferText("Compress", {F16({2, 3}), Bools({2})}, {{"axis", -kOne}}, 2),
            "float16[2, 2]; int64[]");
  EXPECT_EQ(InferText("Compress", {F16({2, 3}), I64({2})}, {}, 2),
            "input 1 is int64[2], its elements must be bool");
  EXPECT_EQ(InferText("Compress", {F16({2}), Bools({2})}, {{"axis", kOne}}, 2),
            "attribute 'axis' names axis 1 of a tensor of rank 1");
  EXPECT_EQ(OpenText("Compress", {F16({2, 3}), Bools({2})}, {{"axis", -kOne}}), "0:1");
  EXPECT_EQ(OpenText("Compress", {F16({2, 3}), Bools({2})}), "0:0");
}

TEST(SelectionOpsTest, Unique) {
  EXPECT_EQ(InferText("Unique", {F32({2, 3})}, {}, 5),
            "float32[6]; int64[6]; int64[6]; int64[6]; int64[]");
  EXPECT_EQ(InferText("Unique", {F32({2, 3})}, {{"axis", kOne}}, 5),
            "float32[2, 3]; int64[3]; int64[3]; int64[3]; int64[]");
  EXPECT_EQ(InferText("Unique", {F32({2})}, {{"sorted", kTwo}}, 5),
            "attribute 'sorted' is 2, allowed are 0 and 1");
  EXPECT_EQ(OpenText("Unique", {F32({2, 3})}, {{"axis", kOne}}), "0:1 1:0 3:0");
}

TEST(SelectionOpsTest, NonMaxSuppression) {
  const std::vector<TensorType> all{F32({2, 9, 4}), F32({2, 3, 9}), I64({1}), F32({}), F32({1})};
  EXPECT_EQ(InferText("NonMaxSuppression", all, {}, 2), "int64[54, 3]; int64[]");
  EXPECT_EQ(InferText("NonMaxSuppression", all, {{"most_boxes", kTwo}}, 2),
            "int64[12, 3]; int64[]");
  EXPECT_EQ(InferText("NonMaxSuppression", {all[0], all[1]}, {}, 2), "int64[0, 3]; int64[]");
  EXPECT_EQ(InferText("NonMaxSuppression", {all[0], F32({2, 3, 8})}, {}, 2),
            "input 1 is float32[2, 3, 8], which has not the batches and boxes of input 0, "
            "float32[2, 9, 4]");
  EXPECT_EQ(InferText("NonMaxSuppression", {F32({2, 9, 3}), all[1]}, {}, 2),
            "input 0 is float32[2, 9, 3], its last extent must be 4");
  EXPECT_EQ(InferText("NonMaxSuppression", {all[0], all[1], I64({2})}, {}, 2),
            "input 2 is int64[2], it must have one element");
}

using Axes = std::vector<std::optional<std::size_t>>;
constexpr std::nullopt_t kNone = std::nullopt;

/// The axis the outputs are open along, "2 less 5" if elements were skipped, or "refused".
std::string CarryText(std::string_view op, const std::vector<TensorType>& inputs, const Axes& open,
                      const Attributes& attributes = {}, std::size_t outputs = 1) {
  const OpDef* def = FindOp(op);
  if (def == nullptr) return "no such operator";
  const InferenceCall call{op, inputs, attributes, outputs};
  const auto types = InferTypes(*def, call);
  if (!types.ok()) return std::string(types.status().message());
  const auto carried = CarryOpenAxis(call, *types, open);
  if (!carried) return "refused";
  return std::to_string(carried->axis) +
         (carried->skipped > 0 ? " less " + std::to_string(carried->skipped) : "");
}

TEST(OpenAxisTest, ElementwiseOperatorsBroadcastOverIt) {
  EXPECT_EQ(CarryText("Exp", {F32({2, 9})}, {1}), "1");
  EXPECT_EQ(CarryText("Add", {F32({2, 9}), F32({})}, {1, kNone}), "1");
  EXPECT_EQ(CarryText("Add", {F32({9, 2}), F32({3, 1, 2})}, {0, kNone}), "1");
  EXPECT_EQ(CarryText("Add", {F32({9}), F32({2, 9})}, {0, 1}), "1");
  EXPECT_EQ(CarryText("Add", {F32({2, 9}), F32({9})}, {1, kNone}), "refused");
  EXPECT_EQ(CarryText("Add", {F32({9, 1}), F32({1, 9})}, {0, 1}), "refused");
  EXPECT_EQ(CarryText("Where", {Bools({9}), F32({}), F32({4, 9})}, {0, kNone, 1}), "1");
  EXPECT_EQ(CarryText("Identity", {F32({2, 9})}, {1}), "1");
}

TEST(OpenAxisTest, OperatorsThatMoveAxes) {
  EXPECT_EQ(CarryText("Transpose", {F32({2, 9, 3})}, {1}, {{"perm", Ints{1, 2, 0}}}), "0");
  EXPECT_EQ(CarryText("Transpose", {F32({2, 9})}, {1}), "0");
  EXPECT_EQ(CarryText("Reshape", {F32({2, 3, 9})}, {2}, {{"shape", Ints{6, -1}}}), "1");
  EXPECT_EQ(CarryText("Reshape", {F32({2, 9, 3})}, {1}, {{"shape", Ints{18, 3}}}), "refused");
  EXPECT_EQ(CarryText("Reshape", {F32({1, 1})}, {0}, {{"shape", Ints{1, -1}}}), "1");
  EXPECT_EQ(CarryText("Reshape", {F32({4, 4})}, {0}, {{"shape", Ints{4, -1}}}), "refused");
  EXPECT_EQ(CarryText("Reshape", {F32({9, 4})}, {0}, {{"shape", Ints{0, 2, 2}}}), "0");
  EXPECT_EQ(CarryText("Reshape", {F32({1, 9, 4})}, {1}, {{"shape", Ints{9, 4}}}), "0");
  EXPECT_EQ(CarryText("Reshape", {F32({9, 4})}, {0}, {{"shape", Ints{9, -1}}}), "refused");
  EXPECT_EQ(CarryText("Flatten", {F32({9, 2, 3})}, {0}), "0");
  EXPECT_EQ(CarryText("Squeeze", {F32({1, 9, 1})}, {1}), "0");
  EXPECT_EQ(CarryText("Squeeze", {F32({1, 9, 1})}, {1}, {{"axes", Ints{2}}}), "1");
  EXPECT_EQ(CarryText("Squeeze", {F32({1, 1})}, {1}), "refused");
  EXPECT_EQ(CarryText("Unsqueeze", {F32({2, 9})}, {1}, {{"axes", Ints{0, 2}}}), "3");
  EXPECT_EQ(CarryText("Expand", {F32({9, 1})}, {0}, {{"shape", Ints{4, 1, 5}}}), "1");
  EXPECT_EQ(CarryText("Expand", {F32({9, 1})}, {0}, {{"shape", Ints{9, 5}}}), "refused");
  EXPECT_EQ(CarryText("Expand", {F32({1, 2})}, {0}, {{"shape", Ints{4, 2}}}), "refused");
}

TEST(OpenAxisTest, OperatorsAlongOtherAxes) {
  EXPECT_EQ(CarryText("Softmax", {F32({9, 4})}, {0}), "0");
  EXPECT_EQ(CarryText("Softmax", {F32({9, 4})}, {1}), "refused");
  EXPECT_EQ(CarryText("ReduceSum", {F32({3, 9})}, {1}, {{"axes", Ints{0}}, {"keepdims", kZero}}),
            "0");
  EXPECT_EQ(CarryText("ReduceSum", {F32({3, 9})}, {1}, {{"axes", Ints{1}}}), "refused");
  EXPECT_EQ(CarryText("ReduceSum", {F32({3, 9})}, {1}), "refused");
  EXPECT_EQ(CarryText("ArgMax", {F32({9, 3})}, {0}, {{"axis", -kOne}}), "0");
  EXPECT_EQ(CarryText("ArgMax", {F32({9, 3})}, {0}), "refused");
  EXPECT_EQ(CarryText("Concat", {F32({9, 2}), F32({9, 3})}, {0, 0}, {{"axis", kOne}}), "0");
  EXPECT_EQ(CarryText("Concat", {F32({9, 2}), F32({9, 3})}, {0, kNone}, {{"axis", kOne}}),
            "refused");
  EXPECT_EQ(CarryText("Concat", {F32({9, 2}), F32({9, 2})}, {0, 0}, {{"axis", kZero}}), "refused");
  EXPECT_EQ(CarryText("Split", {F32({9, 4})}, {0}, {{"axis", kOne}}, 2), "0");
  EXPECT_EQ(CarryText("LayerNormalization", {F32({9, 4}), F32({4})}, {0, kNone}), "0");
  EXPECT_EQ(CarryText("TopK", {F32({9, 4})}, {0}, {{"k", Ints{2}}}, 2), "0");
  EXPECT_EQ(CarryText("Pad", {F32({9, 4})}, {0}, {{"pads", Ints{0, 1, 0, 1}}}), "0");
  EXPECT_EQ(CarryText("Pad", {F32({9, 4})}, {0}, {{"pads", Ints{1, 0, -1, 0}}}), "refused");
  EXPECT_EQ(CarryText("Tile", {F32({9, 4})}, {0}, {{"repeats", Ints{1, 2}}}), "0");
}

TEST(OpenAxisTest, SumsFromTheFront) {
  EXPECT_EQ(CarryText("CumSum", {F32({9, 4})}, {0}, {{"axis", Ints{0}}}), "0");
  EXPECT_EQ(CarryText("CumSum", {F32({9, 4})}, {0}, {{"axis", Ints{0}}, {"reverse", kOne}}),
            "refused");
}

TEST(OpenAxisTest, GridSampleAtOpenPoints) {
  EXPECT_EQ(CarryText("GridSample", {F32({1, 3, 5, 5}), F32({1, 9, 2, 2})}, {kNone, 1}), "2");
  EXPECT_EQ(CarryText("GridSample", {F32({1, 3, 5, 5}), F32({1, 2, 9, 2})}, {kNone, 2}), "3");
  EXPECT_EQ(CarryText("GridSample", {F32({1, 3, 5, 5}), F32({1, 2, 9, 2})}, {2, kNone}), "refused");
}

TEST(OpenAxisTest, SlicesKeepWhatIsCountedFromTheFront) {
  const auto slice = [](std::int64_t start, std::int64_t end, std::int64_t axis) {
    return CarryText("Slice", {F32({9, 4})}, {0},
                     {{"starts", Ints{start}}, {"ends", Ints{end}}, {"axes", Ints{axis}}});
  };
  EXPECT_EQ(slice(0, 2, 1), "0");
  EXPECT_EQ(slice(0, 5, 0), "0");
  EXPECT_EQ(slice(2, 5, -2), "0 less 2");
  EXPECT_EQ(slice(0, -1, 0), "refused");
  EXPECT_EQ(slice(-3, 9, 0), "refused");
}

TEST(OpenAxisTest, Gathers) {
  EXPECT_EQ(CarryText("Gather", {F32({5, 6}), I64({3, 9})}, {kNone, 1}, {{"axis", kOne}}), "2");
  EXPECT_EQ(CarryText("Gather", {F32({5, 9}), I64({})}, {1, kNone}), "0");
  EXPECT_EQ(CarryText("Gather", {F32({9, 5}), I64({2})}, {0, kNone}), "refused");
  EXPECT_EQ(CarryText("GatherElements", {F32({5, 6}), I64({9, 6})}, {kNone, 0}), "0");
  EXPECT_EQ(CarryText("GatherND", {F32({5, 6, 7}), I64({9, 2})}, {kNone, 0}), "0");
  EXPECT_EQ(CarryText("GatherND", {F32({5, 6, 9}), I64({3, 2})}, {2, kNone}), "1");
  EXPECT_EQ(CarryText("GatherND", {F32({5, 6}), I64({3, 2})}, {kNone, 1}), "refused");
  EXPECT_EQ(CarryText("ScatterND", {F32({5, 6}), I64({9, 1}), F32({9, 6})}, {kNone, 0, 0}),
            "refused");
}

TEST(OpenAxisTest, Products) {
  EXPECT_EQ(CarryText("MatMul", {F32({9, 4}), F32({4, 5})}, {0, kNone}), "0");
  EXPECT_EQ(CarryText("MatMul", {F32({9, 4}), F32({4})}, {0, kNone}), "0");
  EXPECT_EQ(CarryText("MatMul", {F32({4, 9}), F32({9, 5})}, {1, 0}), "refused");
  EXPECT_EQ(CarryText("MatMul", {F32({3, 4}), F32({4, 9})}, {kNone, 1}), "1");
  EXPECT_EQ(CarryText("MatMul", {F32({9, 3, 4}), F32({4, 5})}, {0, kNone}), "0");
  EXPECT_EQ(CarryText("MatMul", {F32({9, 3, 4}), F32({9, 4, 5})}, {0, kNone}), "refused");
  EXPECT_EQ(CarryText("Gemm", {F32({9, 4}), F32({4, 5}), F32({5})}, {0, kNone, kNone}), "0");
  EXPECT_EQ(CarryText("Gemm", {F32({4, 9}), F32({4, 5})}, {1, kNone}, {{"transA", kOne}}), "0");
  EXPECT_EQ(CarryText("Gemm", {F32({9, 4}), F32({4, 5}), F32({9, 5})}, {0, kNone, kNone}),
            "refused");
  EXPECT_EQ(CarryText("Conv", {F32({9, 1, 4, 4}), F32({2, 1, 3, 3})}, {0, kNone}), "0");
}

TEST(OpenAxisTest, OtherOperatorsAreRefused) {
  EXPECT_EQ(CarryText("NonZero", {F32({9})}, {0}, {}, 2), "refused");
  EXPECT_EQ(CarryText("EyeLike", {F32({9, 9})}, {0}), "refused");
}

}  // namespace
}  // namespace poprt::ops
