#include "runtime/popef/blob_parser.hpp"

#include <algorithm>
#include <sstream>

#include "runtime/popef/blob_header.hpp"
#include "runtime/popef/hash.hpp"
#include "runtime/popef/info_codec.hpp"
#include "runtime/popef/payload.hpp"

namespace popef {
namespace {

/// One blob on its way into a ParsedFile.
struct Blob {
  const BlobHeader& header;
  Location where;
  std::span<const std::byte> info;
  std::shared_ptr<Payload> payload;

  Location InfoWhere() const { return where.At(header.info_offset); }
};

void CheckPayloadSize(const Blob& blob, std::int64_t expected, const std::string& name) {
  if (blob.header.payload_size != static_cast<std::uint64_t>(expected)) {
    Refuse(blob.payload->where, "payload size of \"" + name + "\"", blob.header.payload_size,
           std::to_string(expected) + " by its shape and data type");
  }
}

FeedDataInfo CheckedFeedData(const Blob& blob) {
  FeedDataInfo info = DecodeFeedData(blob.info, blob.InfoWhere());
  std::int64_t size = 0;
  try {
    size = info.sizeInBytes();
  } catch (const Error& error) {
    throw Error(ToString(blob.InfoWhere()) + "feed data \"" + info.name() + "\": " + error.what());
  }
  CheckPayloadSize(blob, size, info.name());
  return info;
}

/// Returns the name of the blob.
std::string AddInfo(const Blob& blob, ParsedFile& file) {
  switch (blob.header.type) {
    case BlobType::POPLAR_EXECUTABLE: {
      std::string name = DecodeExecutable(blob.info, blob.InfoWhere());
      return file.executables.emplace_back(std::move(name), blob.payload).name;
    }
    case BlobType::METADATA:
      return file.metadata.emplace_back(DecodeMetadata(blob.info, blob.InfoWhere())).executable();
    case BlobType::DATA_TENSOR: {
      TensorDataInfo info = DecodeTensorData(blob.info, blob.InfoWhere());
      CheckPayloadSize(blob, info.tensorInfo().sizeInBytes(), info.name());
      return file.tensors.emplace_back(std::move(info), blob.payload).info.name();
    }
    case BlobType::DATA_FEED:
      return file.feeds.emplace_back(CheckedFeedData(blob), blob.payload).info.name();
    case BlobType::OPAQUE: {
      OpaqueInfo info = DecodeOpaque(blob.info, blob.InfoWhere());
      return file.opaques
          .emplace_back(std::move(info.name), std::move(info.executable), blob.payload)
          .name;
    }
  }
  return "";  // A kind of a newer version: passed over.
}

BlobInfo MakeRow(const BlobHeader& header, const Location& where, const std::string& name) {
  BlobInfo row;
  row.file = *where.file;
  row.versionMajor = header.major;
  row.versionMinor = header.minor;
  row.type = header.type;
  row.name = name;
  row.mustUnderstandFlags = header.must_understand;
  row.mayIgnoreFlags = header.may_ignore;
  row.offset = where.offset;
  row.totalSize = header.total_size;
  row.infoOffset = where.offset + header.info_offset;
  row.infoSize = header.info_size;
  row.payloadOffset = where.offset + header.payload_offset;
  row.payloadSize = header.payload_size;
  row.compressed = header.compressed();
  row.uncompressedSize = row.compressed ? header.uncompressed_size : header.payload_size;
  row.alignment = std::min(row.payloadOffset & -row.payloadOffset, kPageAlignment);
  row.infoHash = header.info_hash;
  row.payloadHash = header.payload_hash;
  return row;
}

std::string Label(BlobType type, const std::string& name) {
  std::ostringstream out;
  out << type << " \"" << name << '"';
  return out.str();
}

/// Parses the blob at `where` and returns its size.
std::uint64_t ParseBlob(const std::shared_ptr<const ByteRegion>& region, const Location& where,
                        ParsedFile& file) {
  const auto rest = region->bytes().subspan(where.offset);
  const BlobHeader header = DecodeHeader(rest, where);
  const auto info = rest.subspan(header.info_offset, header.info_size);
  if (const std::uint64_t found = Hash(info); found != header.info_hash) {
    Refuse(where.At(header.info_offset), "info hash", Hex(found),
           Hex(header.info_hash) + "; the info has been altered");
  }
  auto payload = std::make_shared<Payload>();
  payload->region = region;
  payload->stored = rest.subspan(header.payload_offset, header.payload_size);
  // The payload of an unknown kind is not interpreted.
  payload->compressed = header.compressed() && IsKnown(header.type);
  payload->uncompressed_size = payload->compressed ? header.uncompressed_size : header.payload_size;
  payload->hash = header.payload_hash;
  payload->where = where.At(header.payload_offset);
  const std::string name = AddInfo({header, where, info, payload}, file);
  payload->label = Label(header.type, name);
  file.blobs.push_back(MakeRow(header, where, name));
  file.payloads.push_back(std::move(payload));
  return header.total_size;
}

}  // namespace

ParsedFile ParseBlobs(const std::shared_ptr<const ByteRegion>& region, const std::string& name) {
  Location where{std::make_shared<const std::string>(name), 0};
  const std::uint64_t size = region->bytes().size();
  if (size == 0) Refuse(where, "the file", "empty", "at least one blob");
  ParsedFile file;
  while (where.offset < size) where.offset += ParseBlob(region, where, file);
  return file;
}

}  // namespace popef
