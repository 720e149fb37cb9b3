#include "compiler/emit/onnx_constants.hpp"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>
#include <onnx/onnx_pb.h>

#include <limits>
#include <utility>

#include "compiler/frontend/proto/tensor_proto.hpp"

namespace poprt::emit {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedOutputStream;

constexpr std::uint32_t kInitializerTag = WireFormatLite::MakeTag(
    onnx::GraphProto::kInitializerFieldNumber, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
constexpr std::uint32_t kRawDataTag = WireFormatLite::MakeTag(
    onnx::TensorProto::kRawDataFieldNumber, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);

std::uint64_t FieldSize(std::uint32_t tag, std::uint64_t bytes) {
  return CodedOutputStream::VarintSize32(tag) + CodedOutputStream::VarintSize64(bytes) + bytes;
}

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
  initializers_.push_back({.head = head.SerializeAsString(), .tensor = tensor});
}

std::uint64_t OnnxConstants::Initializer::SerializedSize() const {
  return head.size() + FieldSize(kRawDataTag, tensor.bytes());
}

std::uint64_t OnnxConstants::SerializedSize() const {
  std::uint64_t size = 0;
  for (const Initializer& initializer : initializers_) {
    size += FieldSize(kInitializerTag, initializer.SerializedSize());
  }
  return size;
}

void OnnxConstants::Serialize(CodedOutputStream& out) const {
  for (const Initializer& initializer : initializers_) {
    out.WriteTag(kInitializerTag);
    out.WriteVarint64(initializer.SerializedSize());
    out.WriteString(initializer.head);
    out.WriteTag(kRawDataTag);
    out.WriteVarint64(initializer.tensor.bytes());
    out.WriteRaw(initializer.tensor.data(), static_cast<int>(initializer.tensor.bytes()));
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
