#include "compiler/ipu/cost/elementwise_table.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace poprt::ipu {
namespace {

using Op = ElementwiseOp;

// A loop that takes natural vectors has `elements` 0; loading, storing and counting come on top of
// its cycles.
struct Row {
  Op op;
  ElementwiseLoop single;  // of float32
  ElementwiseLoop half;
};

constexpr std::uint64_t kVector = 0;

// Cycles per elements, section 2.7.
constexpr auto kFloats = std::to_array<Row>({
    {Op::kAdd, {1, kVector}, {1, kVector}},
    {Op::kSubtract, {1, kVector}, {1, kVector}},
    {Op::kMultiply, {1, kVector}, {1, kVector}},
    {Op::kDivide, {10, 2}, {21, 4}},
    {Op::kMaximum, {3, 2}, {4, 4}},
    {Op::kMinimum, {3, 2}, {4, 4}},
    {Op::kCompare, {14, 4}, {9, 4}},
    {Op::kNotEqual, {20, 4}, {11, 4}},
    {Op::kPower, {312, 1}, {325, 1}},
    {Op::kAtan2, {272, 2}, {578, 4}},
    {Op::kRemainder, {133, 2}, {300, 4}},
    {Op::kVarianceToInverseStdDev, {12, 2}, {24, 4}},
    {Op::kExp, {6, 2}, {4, 4}},
    {Op::kLog, {12, 2}, {4, 4}},
    {Op::kTanh, {12, 2}, {4, 4}},
    {Op::kSigmoid, {12, 2}, {6, 4}},
    {Op::kRelu, {3, 2}, {3, 4}},
    {Op::kSqrt, {10, 2}, {23, 4}},
    {Op::kRsqrt, {8, 2}, {19, 4}},
    {Op::kInverse, {6, 2}, {15, 4}},
    {Op::kErf, {41, 1}, {13, 1}},
    {Op::kGeluErf, {22, 1}, {16, 1}},
    {Op::kGeluTanh, {10, 2}, {5, 4}},
    {Op::kSwish, {11, 2}, {5, 4}},
    {Op::kSquare, {2, 2}, {2, 4}},
    {Op::kNegate, {2, 2}, {2, 4}},
    {Op::kAbs, {1, kVector}, {1, kVector}},
    {Op::kFloor, {2, kVector}, {2, kVector}},
    {Op::kCeil, {2, kVector}, {2, kVector}},
    {Op::kRound, {2, kVector}, {2, kVector}},
    {Op::kSign, {5, kVector}, {5, kVector}},
    {Op::kIsFinite, {5, kVector}, {5, kVector}},
    {Op::kSin, {2300, 1}, {25, 1}},
    {Op::kCos, {2300, 1}, {25, 1}},
    {Op::kTan, {5100, 1}, {5700, 1}},
    {Op::kExpm1, {4, kVector}, {5, kVector}},
    {Op::kLog1p, {18, kVector}, {18, kVector}},
    {Op::kSelect, {5, 1}, {5, 1}},
    {Op::kClamp, {2, 2}, {2, 4}},
});

// What is faster in place.
constexpr auto kFloatsInPlace = std::to_array<Row>({
    {Op::kTanh, {10, 2}, {2, 4}},
    {Op::kSigmoid, {10, 2}, {4, 4}},
    {Op::kRelu, {2, 2}, {2, 4}},
});

// What is faster with a second operand that stays in a register.
constexpr auto kFloatsBroadcast = std::to_array<Row>({
    {Op::kDivide, {6, 2}, {8, 2}},
});

struct OtherRow {
  Op op;
  ElementwiseLoop loop;
};

constexpr auto kIntegers = std::to_array<OtherRow>({
    {Op::kAdd, {7, 1}},          {Op::kSubtract, {7, 1}},    {Op::kMultiply, {7, 1}},
    {Op::kDivide, {277, 1}},     {Op::kRemainder, {292, 1}}, {Op::kMaximum, {7, 1}},
    {Op::kMinimum, {7, 1}},      {Op::kCompare, {26, 4}},    {Op::kNotEqual, {22, 4}},
    {Op::kBitwiseAnd, {7, 1}},   {Op::kShift, {7, 1}},       {Op::kBitwiseNot, {1, kVector}},
    {Op::kNegate, {2, 1}},       {Op::kAbs, {2, 1}},         {Op::kSign, {5, 1}},
    {Op::kSquare, {1, kVector}}, {Op::kRelu, {7, 1}},        {Op::kSelect, {5, 1}},
    {Op::kClamp, {7, 1}},
});

constexpr auto kBooleans = std::to_array<OtherRow>({
    {Op::kLogicalAnd, {5, 4}},
    {Op::kNotEqual, {5, 4}},
    {Op::kCompare, {31, 4}},
    {Op::kLogicalNot, {17, 1}},
    {Op::kSelect, {5, 1}},
});

template <typename Rows>
auto Find(const Rows& rows, Op op) {
  return std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.op == op; });
}

template <typename Rows>
std::optional<ElementwiseLoop> FindFloat(const Rows& rows, Op op, bool single) {
  const auto row = Find(rows, op);
  if (row == rows.end()) return std::nullopt;
  return single ? row->single : row->half;
}

template <typename Rows>
std::optional<ElementwiseLoop> FindOther(const Rows& rows, Op op) {
  const auto row = Find(rows, op);
  if (row == rows.end()) return std::nullopt;
  return row->loop;
}

bool IsBroadcast(ElementwiseForm form) {
  return form == ElementwiseForm::kBroadcastScalar || form == ElementwiseForm::kBroadcastVector;
}

// Cycles of a loop over natural vectors beyond the operation.
std::uint64_t LoopOverhead(Op op, ElementwiseForm form) {
  const bool assembled = op == Op::kAdd || op == Op::kSubtract || op == Op::kMultiply;
  if (IsBroadcast(form)) return assembled ? 1 : 4;
  if (Operands(op) == 2) return assembled ? 2 : 5;
  return 4;
}

std::optional<ElementwiseLoop> FindFloatLoop(Op op, bool single, ElementwiseForm form,
                                             bool in_place) {
  std::optional<ElementwiseLoop> loop;
  if (IsBroadcast(form)) loop = FindFloat(kFloatsBroadcast, op, single);
  if (!loop.has_value() && in_place) loop = FindFloat(kFloatsInPlace, op, single);
  return loop.has_value() ? loop : FindFloat(kFloats, op, single);
}

// Every operation has a row in one of the tables.
ElementwiseLoop FindRow(Op op, NumberFormat format, ElementwiseForm form, bool in_place) {
  std::optional<ElementwiseLoop> loop;
  if (format == NumberFormat::kBool) loop = FindOther(kBooleans, op);
  if (!loop.has_value() && !IsFloatFormat(format)) loop = FindOther(kIntegers, op);
  if (!loop.has_value()) {
    const bool half = format == NumberFormat::kFloat16 || format == NumberFormat::kFloat8;
    loop = FindFloatLoop(op, !half, form, in_place);
  }
  if (!loop.has_value()) loop = FindOther(kIntegers, op);
  return loop.has_value() ? *loop : *FindOther(kBooleans, op);
}

}  // namespace

ElementwiseLoop FindElementwiseLoop(const Target& target, ElementwiseOp op, NumberFormat format,
                                    ElementwiseForm form, bool in_place) {
  ElementwiseLoop loop = FindRow(op, format, form, in_place);
  if (loop.elements != kVector) return loop;
  // FP8 has no arithmetic of its own: its vectors are those of half.
  const NumberFormat vectors = format == NumberFormat::kFloat8 ? NumberFormat::kFloat16 : format;
  loop.elements = VectorElements(target, vectors);
  loop.cycles += LoopOverhead(op, form);
  return loop;
}

}  // namespace poprt::ipu
