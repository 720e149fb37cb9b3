#pragma once

#include <cstdint>
#include <string>

namespace google::protobuf {
class MessageLite;
}

/// protobuf's encoding by hand, for messages that are never in memory in one piece.
namespace poprt::frontend {

/// What stands before the contents of field `number`, which are that many bytes.
std::string FieldHead(int number, std::uint64_t bytes);

/// The message; the same bytes for the same message.
std::string Serialized(const google::protobuf::MessageLite& message);

}  // namespace poprt::frontend
