#include "compiler/emit/onnx_constants.hpp"

#include <onnx/onnx_pb.h>

#include <limits>
#include <utility>

#include "compiler/frontend/proto/protobuf_field.hpp"
#include "compiler/frontend/proto/tensor_proto.hpp"

namespace poprt::emit {
namespace {

std::size_t Hash(const Tensor& tensor) {
  const std::string_view bytes(reinterpret_cast<const char*>(tensor.data()), tensor.bytes());
  return std::hash<std::string_view>()(bytes) ^ std::hash<std::string>()(ToString(tensor.type()));
}

bool IsSame(const Tensor& a, const Tensor& b) {
  return a.type() == b.type() && (a.data() == b.data() || a == b);
}

}  // namespace

bool OnnxConstants::too_large() const {
  return bytes_ > static_cast<std::uint64_t>(std::numeric_limits<int>::max());
}

void OnnxConstants::Write(const std::string& name, const Tensor& tensor) {
  bytes_ += tensor.bytes();
  if (too_large()) return;
  if (PackedBits(tensor.element()) < 8) {  // stored in another form than ours
    onnx::TensorProto* proto = graph_->add_initializer();
    proto->set_name(name);
    frontend::TensorToProto(tensor, proto);
    return;
  }
  onnx::TensorProto head;
  head.set_name(name);
  frontend::DescribeToProto(tensor.type(), &head);
  std::string message = frontend::Serialized(head);
  message += frontend::FieldHead(onnx::TensorProto::kRawDataFieldNumber, tensor.bytes());
  const std::uint64_t size = message.size() + tensor.bytes();
  initializers_.push_back(
      {.head = frontend::FieldHead(onnx::GraphProto::kInitializerFieldNumber, size) + message,
       .tensor = tensor});
}

std::uint64_t OnnxConstants::SerializedSize() const {
  std::uint64_t size = 0;
  for (const Initializer& initializer : initializers_) {
    size += initializer.head.size() + initializer.tensor.bytes();
  }
  return size;
}

void OnnxConstants::AppendTo(FilePieces& file) const {
  for (const Initializer& initializer : initializers_) {
    file.Append(initializer.head);
    file.Append(initializer.tensor);
  }
}

std::string OnnxConstants::Share(const std::string& wanted, const Tensor& tensor) {
  std::vector<Known>& candidates = shared_[Hash(tensor)];
  for (const Known& known : candidates) {
    if (IsSame(known.tensor, tensor)) return known.name;
  }
  candidates.push_back({.tensor = tensor, .name = names_.Unique(wanted)});
  Write(candidates.back().name, tensor);
  return candidates.back().name;
}

}  // namespace poprt::emit
