#include "compiler/emit/onnx_constants.hpp"

#include <onnx/onnx_pb.h>

#include <limits>

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
  onnx::TensorProto* proto = graph_->add_initializer();
  proto->set_name(name);
  frontend::TensorToProto(tensor, proto);
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
