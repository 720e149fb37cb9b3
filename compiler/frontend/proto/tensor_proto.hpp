#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "runtime/tensor/tensor.hpp"

namespace onnx {
class TensorProto;
}

namespace poprt::frontend {

class ExternalData;

/// The element type of that number of TensorProto.DataType. Unimplemented for strings and complex
/// numbers; InvalidArgument for undefined and numbers that are no type.
absl::StatusOr<ElementType> ElementTypeFromProto(int data_type);

/// Copies the elements, however they are stored; packed ones get a byte each. `external` may be
/// null: then external data is an error. Errors do not name the tensor.
absl::StatusOr<Tensor> TensorFromProto(const onnx::TensorProto& proto, ExternalData* external);

/// Element type and shape, without elements.
void DescribeToProto(const TensorType& type, onnx::TensorProto* proto);

/// The inverse, with raw data and without a name.
void TensorToProto(const Tensor& tensor, onnx::TensorProto* proto);

}  // namespace poprt::frontend
