#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/emit/onnx_constants.hpp"
#include "compiler/emit/onnx_names.hpp"
#include "compiler/ops/op.hpp"
#include "runtime/tensor/attributes.hpp"
#include "runtime/tensor/shape.hpp"

namespace onnx {
class GraphProto;
}

namespace poprt::emit {

/// A value as ONNX nodes refer to it; without a name when it is absent.
struct OnnxValue {
  std::string name;
  TensorType type;
};

/// A node on its way out: names instead of numbers, static inputs still attributes.
struct OnnxNode {
  std::string name;
  std::string op;
  std::vector<OnnxValue> inputs;
  std::vector<OnnxValue> outputs;
  Attributes attributes;
};

/// Writes nodes of newest form into one scope of a model of some opset.
class OnnxNodeWriter {
 public:
  OnnxNodeWriter(int opset, OnnxNames& names, OnnxConstants& constants, onnx::GraphProto* scope)
      : opset_(opset), names_(names), constants_(constants), scope_(scope) {}

  int opset() const { return opset_; }
  onnx::GraphProto* scope() const { return scope_; }
  /// A writer of the same model into another scope.
  OnnxNodeWriter InScope(onnx::GraphProto* scope) const {
    return OnnxNodeWriter(opset_, names_, constants_, scope);
  }

  /// Brings the node to the form of the opset and writes it. Unimplemented when there is none;
  /// messages do not name the node.
  absl::Status Write(OnnxNode node);

  /// Writes a node of which only the type of the result is wanted; `status` keeps the first error.
  OnnxValue Emit(const std::string& name, const std::string& op, std::vector<OnnxValue> inputs,
                 TensorType type, Attributes attributes, absl::Status& status);

  OnnxValue Constant(const std::string& name, const Tensor& tensor);

 private:
  absl::Status WriteForm(OnnxNode node);
  /// The inputs as ONNX orders them; attributes that became inputs leave the node.
  absl::StatusOr<std::vector<OnnxValue>> InputsOf(const ops::OpDef& def, OnnxNode& node);
  absl::StatusOr<OnnxValue> StaticInputOf(const ops::OpDef& def, const ops::StaticInput& input,
                                          OnnxNode& node);

  int opset_;
  OnnxNames& names_;
  OnnxConstants& constants_;
  onnx::GraphProto* scope_;
};

}  // namespace poprt::emit
