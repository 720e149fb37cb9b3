#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "absl/status/statusor.h"
#include "compiler/frontend/import_value.hpp"

namespace onnx {
class TypeProto;
}

namespace poprt::frontend {

/// A file that holds the value of an input: NAME.pb, with the protobuf message of ONNX that fits
/// the type of the input (TensorProto, SequenceProto, OptionalProto), or NAME.npy, with an array.
struct FrozenFile {
  std::string path;
};

/// The value of an input that is fixed while importing, or the file that has it.
using FrozenInput = std::variant<FrozenFile, HostValue>;

/// Reads the file as a value of that type. Checks that the file is sound, not that its value fits
/// the type: see FitTo. NotFound and InvalidArgument messages start with the path.
absl::StatusOr<HostValue> ReadFrozenFile(const std::string& path, const onnx::TypeProto& type);

/// As ReadFrozenFile for the bytes of a .pb file; messages continue the name of what holds them.
absl::StatusOr<HostValue> ParseFrozenProto(std::string_view bytes, const onnx::TypeProto& type);

/// The value as one of that type: a tensor or sequence becomes an optional that holds it where one
/// is declared. InvalidArgument, to be continued from the name of the value, where element types,
/// ranks, extents or kinds differ from what is declared.
absl::StatusOr<HostValue> FitTo(HostValue value, const onnx::TypeProto& type);

}  // namespace poprt::frontend
