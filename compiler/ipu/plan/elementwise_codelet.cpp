#include "compiler/ipu/plan/elementwise_codelet.hpp"

#include <string_view>

namespace poprt::ipu {
namespace {

std::string_view OperationName(ElementwiseOp op) {
  switch (op) {
    case ElementwiseOp::kAdd:
      return "ADD";
    case ElementwiseOp::kSubtract:
      return "SUBTRACT";
    case ElementwiseOp::kMultiply:
      return "MULTIPLY";
    case ElementwiseOp::kDivide:
      return "DIVIDE";
    case ElementwiseOp::kMaximum:
      return "MAXIMUM";
    case ElementwiseOp::kMinimum:
      return "MINIMUM";
    case ElementwiseOp::kCompare:
      return "COMPARE";
    case ElementwiseOp::kNotEqual:
      return "NOT_EQUAL";
    case ElementwiseOp::kPower:
      return "POWER";
    case ElementwiseOp::kAtan2:
      return "ATAN2";
    case ElementwiseOp::kRemainder:
      return "REMAINDER";
    case ElementwiseOp::kVarianceToInverseStdDev:
      return "VARIANCE_TO_INVERSE_STD_DEV";
    case ElementwiseOp::kLogicalAnd:
      return "LOGICAL_AND";
    case ElementwiseOp::kBitwiseAnd:
      return "BITWISE_AND";
    case ElementwiseOp::kShift:
      return "SHIFT";
    case ElementwiseOp::kExp:
      return "EXP";
    case ElementwiseOp::kLog:
      return "LOG";
    case ElementwiseOp::kTanh:
      return "TANH";
    case ElementwiseOp::kSigmoid:
      return "SIGMOID";
    case ElementwiseOp::kRelu:
      return "RELU";
    case ElementwiseOp::kSqrt:
      return "SQRT";
    case ElementwiseOp::kRsqrt:
      return "RSQRT";
    case ElementwiseOp::kInverse:
      return "INVERSE";
    case ElementwiseOp::kErf:
      return "ERF";
    case ElementwiseOp::kGeluErf:
      return "GELU_ERF";
    case ElementwiseOp::kGeluTanh:
      return "GELU_TANH";
    case ElementwiseOp::kSwish:
      return "SWISH";
    case ElementwiseOp::kSquare:
      return "SQUARE";
    case ElementwiseOp::kNegate:
      return "NEGATE";
    case ElementwiseOp::kAbs:
      return "ABS";
    case ElementwiseOp::kFloor:
      return "FLOOR";
    case ElementwiseOp::kCeil:
      return "CEIL";
    case ElementwiseOp::kRound:
      return "ROUND";
    case ElementwiseOp::kSign:
      return "SIGN";
    case ElementwiseOp::kIsFinite:
      return "IS_FINITE";
    case ElementwiseOp::kSin:
      return "SIN";
    case ElementwiseOp::kCos:
      return "COS";
    case ElementwiseOp::kTan:
      return "TAN";
    case ElementwiseOp::kExpm1:
      return "EXPM1";
    case ElementwiseOp::kLog1p:
      return "LOG1P";
    case ElementwiseOp::kLogicalNot:
      return "LOGICAL_NOT";
    case ElementwiseOp::kBitwiseNot:
      return "BITWISE_NOT";
    case ElementwiseOp::kSelect:
      return "SELECT";
    case ElementwiseOp::kClamp:
      return "CLAMP";
  }
  return "";
}

std::string_view FamilyName(const ElementwiseVertex& vertex) {
  switch (vertex.form) {
    case ElementwiseForm::kBroadcastScalar:
      return "BroadcastScalar";
    case ElementwiseForm::kBroadcastVector:
      return vertex.along_rows ? "BroadcastVectorOuterByColumn" : "BroadcastVectorOuterByRow";
    case ElementwiseForm::kWhole:
    case ElementwiseForm::kRegions:
      break;
  }
  const int operands = Operands(vertex.op);
  return operands == 1 ? "UnaryOp" : operands == 2 ? "BinaryOp" : "TernaryOp";
}

}  // namespace

std::string_view FormatName(NumberFormat format) {
  switch (format) {
    case NumberFormat::kFloat32:
      return "float";
    case NumberFormat::kFloat16:
      return "half";
    case NumberFormat::kFloat8:
      return "quarter";
    case NumberFormat::kInt32:
      return "int";
    case NumberFormat::kInt16:
      return "short";
    case NumberFormat::kInt8:
      return "char";
    case NumberFormat::kBool:
      return "bool";
  }
  return "";
}

std::string CastCodelet(NumberFormat from, NumberFormat to) {
  std::string name = "popops::Cast<";
  name += FormatName(from);
  name += ",";
  name += FormatName(to);
  return name + ">";
}

std::string ElementwiseCodelet(const ElementwiseVertex& vertex, bool regions) {
  std::string name = "popops::";
  name += FamilyName(vertex);
  if (regions) name += "2D";
  if (vertex.in_place) name += "InPlace";
  name += "<";
  name += OperationName(vertex.op);
  name += ",";
  name += FormatName(vertex.format);
  const bool misaligned = vertex.form == ElementwiseForm::kBroadcastVector && !vertex.aligned;
  if (misaligned) name += ",allowMisaligned";
  return name + ">";
}

}  // namespace poprt::ipu
