#pragma once

#include <cstdint>

#include "compiler/ipu/cost/number_format.hpp"

/// Element-wise vertices (section 2.7).
namespace poprt::ipu {

/// Operations that have vertices.
enum class ElementwiseOp : std::uint8_t {
  // Of two operands.
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kMaximum,
  kMinimum,
  kCompare,  ///< ==, <, <=, >, >=
  kNotEqual,
  kPower,
  kAtan2,
  kRemainder,
  kVarianceToInverseStdDev,  ///< 1 / sqrt(variance + epsilon)
  kLogicalAnd,               ///< also or, exclusive or: of booleans
  kBitwiseAnd,               ///< also or, exclusive or
  kShift,
  // Of one operand.
  kExp,
  kLog,
  kTanh,
  kSigmoid,
  kRelu,
  kSqrt,
  kRsqrt,
  kInverse,
  kErf,
  kGeluErf,
  kGeluTanh,
  kSwish,
  kSquare,
  kNegate,
  kAbs,
  kFloor,
  kCeil,
  kRound,
  kSign,
  kIsFinite,  ///< also is NaN, is infinite
  kSin,
  kCos,
  kTan,
  kExpm1,
  kLog1p,
  kLogicalNot,
  kBitwiseNot,
  // Of three operands.
  kSelect,
  kClamp,
};

/// How many operands the operation has: 1, 2 or 3.
int Operands(ElementwiseOp op);

/// How the operands lie.
enum class ElementwiseForm : std::uint8_t {
  kWhole,            ///< all operands as large as the result, one region each
  kBroadcastScalar,  ///< the second operand is one element
  kBroadcastVector,  ///< the second operand is a row or a column of the first
  kRegions,          ///< several regions, each computed by one worker
};

/// What one tile computes.
struct ElementwiseVertex {
  ElementwiseOp op = ElementwiseOp::kAdd;
  NumberFormat format = NumberFormat::kFloat16;  ///< of the operands
  ElementwiseForm form = ElementwiseForm::kWhole;
  std::uint64_t elements = 0;  ///< of the result
  bool in_place = false;       ///< the result replaces the first operand
  /// kBroadcastVector: rows of the first operand, which divide `elements`. kRegions: regions.
  std::uint64_t rows = 1;
  bool aligned = true;  ///< kBroadcastVector: rows start on vectors
  /// kBroadcastVector: the second operand has an element for every column; else one for every row.
  bool along_rows = false;
};

/// Cycles of the vertex on a tile; 0 when there is nothing to compute.
std::uint64_t ElementwiseVertexCycles(const Target& target, const ElementwiseVertex& vertex);

/// Cycles to convert `elements` on a tile, its workers sharing them; 0 when there are none or the
/// formats agree.
std::uint64_t CastVertexCycles(const Target& target, NumberFormat from, NumberFormat to,
                               std::uint64_t elements);

/// Cycles to set `elements` on a tile to one value; 0 when there are none.
std::uint64_t FillVertexCycles(const Target& target, NumberFormat format, std::uint64_t elements);

/// Cycles of aX + bY, or X += bY, on a tile; 0 when there is nothing to compute. The operands do
/// not lie in chosen memory elements.
std::uint64_t ScaledAddVertexCycles(const Target& target, NumberFormat format,
                                    std::uint64_t elements);

}  // namespace poprt::ipu
