#pragma once

#include "absl/status/statusor.h"
#include "compiler/frontend/import_value.hpp"

namespace onnx {
class SparseTensorProto;
class TensorProto;
}  // namespace onnx

namespace poprt::frontend {

class ExternalData;

/// The tensor or, for element type STRING, tensor of strings. `external` may be null: then external
/// data is an error. Errors do not name the tensor.
absl::StatusOr<HostValue> ValueFromProto(const onnx::TensorProto& proto, ExternalData* external);

/// The dense tensor of a sparse one, at most 2 GiB: zero (of strings: empty) where it has no value.
/// InvalidArgument for positions outside it, out of order or given twice.
absl::StatusOr<HostValue> ValueFromProto(const onnx::SparseTensorProto& proto,
                                         ExternalData* external);

}  // namespace poprt::frontend
