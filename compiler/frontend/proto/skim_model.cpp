#include "compiler/frontend/proto/skim_model.hpp"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <cstdint>
#include <limits>
#include <string>

#include "compiler/frontend/proto/protobuf_field.hpp"

namespace poprt::frontend {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

/// Calls field(number, all bytes of it, its contents) for the fields of an encoded message; a field
/// that is no string, message or array has no contents. False where the encoding is broken or
/// `field` says so.
template <typename Field>
bool ForEachField(std::string_view message, Field field) {
  if (message.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) return false;
  CodedInputStream in(reinterpret_cast<const std::uint8_t*>(message.data()),
                      static_cast<int>(message.size()));
  for (std::size_t begin = 0; begin < message.size();) {
    const std::uint32_t tag = in.ReadTag();
    std::uint32_t size = 0;
    if (WireFormatLite::GetTagWireType(tag) != WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      if (tag == 0 || !WireFormatLite::SkipField(&in, tag)) return false;
    } else if (!in.ReadVarint32(&size) || size > message.size() ||
               !in.Skip(static_cast<int>(size))) {
      return false;
    }
    const auto end = static_cast<std::size_t>(in.CurrentPosition());
    if (!field(WireFormatLite::GetTagFieldNumber(tag), message.substr(begin, end - begin),
               message.substr(end - size, size))) {
      return false;
    }
    begin = end;
  }
  return true;
}

bool HoldsElements(int field) {
  return field == onnx::TensorProto::kRawDataFieldNumber ||
         field == onnx::TensorProto::kFloatDataFieldNumber ||
         field == onnx::TensorProto::kDoubleDataFieldNumber ||
         field == onnx::TensorProto::kInt32DataFieldNumber ||
         field == onnx::TensorProto::kInt64DataFieldNumber ||
         field == onnx::TensorProto::kUint64DataFieldNumber ||
         field == onnx::TensorProto::kStringDataFieldNumber;
}

bool SkimTensor(std::string_view message, std::string& skimmed) {
  return ForEachField(message, [&](int number, std::string_view field, std::string_view) {
    if (!HoldsElements(number)) skimmed += field;
    return true;
  });
}

/// Copies a message, one of whose fields holds messages that `skim` copies in part.
template <typename Skim>
bool SkimMessage(std::string_view message, int skimmed_field, Skim skim, std::string& skimmed) {
  return ForEachField(message, [&](int number, std::string_view field, std::string_view contents) {
    if (number != skimmed_field) {
      skimmed += field;
      return true;
    }
    std::string inner;
    if (!skim(contents, inner)) return false;
    skimmed += FieldHead(number, inner.size()) + inner;
    return true;
  });
}

bool SkimGraph(std::string_view message, std::string& skimmed) {
  return SkimMessage(message, onnx::GraphProto::kInitializerFieldNumber, SkimTensor, skimmed);
}

}  // namespace

bool SkimModel(std::string_view bytes, onnx::ModelProto* model) {
  std::string skimmed;
  return SkimMessage(bytes, onnx::ModelProto::kGraphFieldNumber, SkimGraph, skimmed) &&
         model->ParseFromString(skimmed);
}

}  // namespace poprt::frontend
