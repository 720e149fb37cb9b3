#include "compiler/frontend/proto/protobuf_field.hpp"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message_lite.h>
#include <google/protobuf/wire_format_lite.h>

namespace poprt::frontend {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedOutputStream;
using google::protobuf::io::StringOutputStream;

std::string FieldHead(int number, std::uint64_t bytes) {
  std::string head;
  StringOutputStream stream(&head);
  CodedOutputStream coded(&stream);
  coded.WriteTag(WireFormatLite::MakeTag(number, WireFormatLite::WIRETYPE_LENGTH_DELIMITED));
  coded.WriteVarint64(bytes);
  coded.Trim();
  return head;
}

std::string Serialized(const google::protobuf::MessageLite& message) {
  std::string bytes;
  StringOutputStream stream(&bytes);
  CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  message.SerializeToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

}  // namespace poprt::frontend
