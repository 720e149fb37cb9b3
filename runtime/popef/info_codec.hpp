#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "popef/Types.hpp"
#include "runtime/popef/location.hpp"

/// The info part of blobs: FlatBuffers to and from the value types. Encoding throws Error when a
/// value cannot be stored (an empty name, a tensor without element type, a size of 2^63 or more);
/// decoding throws Error that names `where` for everything docs/popef.md section 5 forbids.
namespace popef {

using InfoBytes = std::vector<std::byte>;

struct OpaqueInfo {
  std::string name;
  std::string executable;
};

InfoBytes EncodeExecutable(const std::string& name);
InfoBytes EncodeOpaque(const OpaqueInfo& info);
InfoBytes EncodeTensorData(const TensorDataInfo& info);
InfoBytes EncodeFeedData(const FeedDataInfo& info);
InfoBytes EncodeMetadata(const Metadata& metadata);

/// `info` starts on a multiple of 8 in memory.
std::string DecodeExecutable(std::span<const std::byte> info, const Location& where);
OpaqueInfo DecodeOpaque(std::span<const std::byte> info, const Location& where);
TensorDataInfo DecodeTensorData(std::span<const std::byte> info, const Location& where);
FeedDataInfo DecodeFeedData(std::span<const std::byte> info, const Location& where);
Metadata DecodeMetadata(std::span<const std::byte> info, const Location& where);

}  // namespace popef
