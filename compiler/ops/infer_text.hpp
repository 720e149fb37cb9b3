#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/ops/op.hpp"

/// For the tests of shape rules: types in one line.
namespace poprt::ops {

inline TensorType F32(Shape shape) { return {ElementType::kFloat32, std::move(shape)}; }
inline TensorType F16(Shape shape) { return {ElementType::kFloat16, std::move(shape)}; }
inline TensorType I32(Shape shape) { return {ElementType::kInt32, std::move(shape)}; }
inline TensorType I64(Shape shape) { return {ElementType::kInt64, std::move(shape)}; }
inline TensorType U8(Shape shape) { return {ElementType::kUint8, std::move(shape)}; }
inline TensorType Bools(Shape shape) { return {ElementType::kBool, std::move(shape)}; }

/// What InferTypes says: "float32[2, 3]; int64[2]", or the error's message.
inline std::string InferText(std::string_view op, std::vector<TensorType> inputs,
                             const Attributes& attributes = {}, std::size_t outputs = 1) {
  const OpDef* def = FindOp(op);
  if (def == nullptr) return "no such operator";
  const auto types = InferTypes(*def, {op, std::move(inputs), attributes, outputs});
  if (!types.ok()) return std::string(types.status().message());
  std::string text;
  for (const TensorType& type : *types) text += (text.empty() ? "" : "; ") + ToString(type);
  return text;
}

}  // namespace poprt::ops
