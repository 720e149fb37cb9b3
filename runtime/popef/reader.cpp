#include "popef/Reader.hpp"

#include <map>
#include <sstream>
#include <tuple>
#include <utility>

#include "runtime/popef/blob_parser.hpp"
#include "runtime/popef/log.hpp"
#include "runtime/popef/payload.hpp"

namespace popef {

PayloadReader::PayloadReader(std::shared_ptr<const Payload> payload)
    : payload_(std::move(payload)) {}

PayloadView PayloadReader::view() const { return payload_->View(); }

void PayloadReader::verify() const { payload_->Verify(); }

std::uint64_t PayloadReader::getAvailableReadSize() const { return payload_->uncompressed_size; }

bool PayloadReader::IsCompressed() const { return payload_->compressed; }

std::unique_ptr<std::istream> PayloadReader::OpenStream() const {
  return std::make_unique<PayloadStream>(view());
}

ExecutableReader::ExecutableReader(std::string blob_name, std::shared_ptr<const Payload> payload)
    : PayloadReader(std::move(payload)), name(std::move(blob_name)) {}

TensorReader::TensorReader(TensorDataInfo data_info, std::shared_ptr<const Payload> payload)
    : PayloadReader(std::move(payload)), info(std::move(data_info)), data(view()) {}

FeedReader::FeedReader(FeedDataInfo data_info, std::shared_ptr<const Payload> payload)
    : PayloadReader(std::move(payload)), info(std::move(data_info)), data(view()) {}

OpaqueReader::OpaqueReader(std::string blob_name, std::string executable_name,
                           std::shared_ptr<const Payload> payload)
    : PayloadReader(std::move(payload)),
      name(std::move(blob_name)),
      executable(std::move(executable_name)),
      data(view()) {}

namespace {

template <typename T>
void Append(std::vector<T>& to, std::vector<T>& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

void LogBlobs(const std::string& name, const ParsedFile& file) {
  Log(LogLevel::kInfo, name + ": parsed " + std::to_string(file.blobs.size()) + " blobs");
  if (!IsLogged(LogLevel::kDebug)) return;
  for (const BlobInfo& blob : file.blobs) {
    std::ostringstream line;
    line << name << ": byte " << blob.offset << ": " << blob.type << " \"" << blob.name
         << "\", payload of " << blob.payloadSize << " bytes at " << blob.payloadOffset;
    Log(LogLevel::kDebug, line.str());
  }
}

}  // namespace

void Reader::parseFile(const std::string& path) {
  Add(ParseBlobs(ByteRegion::MapFile(path), path));
}

void Reader::parseStream(std::shared_ptr<std::istream> stream, std::uint64_t size) {
  if (stream == nullptr) throw Error("stream: none given, allowed is an open stream");
  Add(ParseBlobs(ByteRegion::ReadStream(*stream, size, "stream"), "stream"));
}

void Reader::Add(ParsedFile file) {
  LogBlobs(file.blobs.front().file, file);
  Reader next = *this;
  Append(next.metadata_, file.metadata);
  Append(next.executables_, file.executables);
  Append(next.tensors_, file.tensors);
  Append(next.feeds_, file.feeds);
  Append(next.opaques_, file.opaques);
  Append(next.blobs_, file.blobs);
  Append(next.payloads_, file.payloads);
  next.CheckUnique();
  *this = std::move(next);
}

void Reader::CheckUnique() const {
  // Opaque blobs may share a name if they belong to different executables.
  std::map<std::tuple<BlobType, std::string, std::string>, const BlobInfo*> seen;
  auto opaque = opaques_.begin();
  for (const BlobInfo& blob : blobs_) {
    if (blob.type == BlobType::METADATA || blob.type > BlobType::OPAQUE) continue;
    const std::string owner = blob.type == BlobType::OPAQUE ? (opaque++)->executable : "";
    const auto [first, added] = seen.emplace(std::tuple(blob.type, blob.name, owner), &blob);
    if (added) continue;
    std::ostringstream message;
    message << blob.file << ": byte " << blob.offset << ": " << blob.type << " \"" << blob.name
            << "\" is there already, in " << first->second->file << " at byte "
            << first->second->offset << "; allowed is one of a name";
    throw Error(message.str());
  }
}

void Reader::verifyPayloads() const {
  std::string problems;
  for (const auto& payload : payloads_) {
    try {
      payload->Verify();
    } catch (const Error& error) {
      problems += (problems.empty() ? "" : "\n") + std::string(error.what());
    }
  }
  if (!problems.empty()) throw Error(problems);
}

}  // namespace popef
