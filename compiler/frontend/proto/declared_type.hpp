#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace onnx {
class TensorShapeProto;
class TypeProto;
}  // namespace onnx

namespace poprt::frontend {

/// A dimension as declared: its extent, or what the model calls it.
struct DeclaredDimension {
  std::optional<std::int64_t> extent;
  std::string name = "?";
};

std::vector<DeclaredDimension> ReadDimensions(const onnx::TensorShapeProto& shape);

/// "[1, batch, ?]".
std::string ToString(const std::vector<DeclaredDimension>& dimensions);

/// "a tensor", "a sequence", "declared without a type", ...
std::string KindOf(const onnx::TypeProto& type);

/// "float32[batch, 3]", "a sequence of string", "an optional int64[?]"; a tensor without a shape is
/// its element type alone.
std::string DeclaredType(const onnx::TypeProto& type);

}  // namespace poprt::frontend
