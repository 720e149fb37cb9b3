#include "runtime/popef/writer_state.hpp"

#include <array>
#include <sstream>
#include <utility>

#include "runtime/popef/blob_header.hpp"
#include "runtime/popef/compression.hpp"
#include "runtime/popef/hash.hpp"
#include "runtime/popef/payload_buffer.hpp"

namespace popef {
namespace {

std::uint64_t RoundUp(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

std::uint64_t SizeOf(WriterState::Pieces pieces) {
  std::uint64_t size = 0;
  for (const std::span<const std::byte> piece : pieces) size += piece.size();
  return size;
}

}  // namespace

void WriterState::BeginCall() {
  if (closed_) throw Error("the writer is closed, allowed is nothing more");
  if (failed_) throw Error("an earlier blob could not be written; the file is not usable");
  FinishActive();
}

void WriterState::Reserve(BlobType type, const std::string& name, const std::string& executable) {
  if (names_.emplace(type, name, executable).second) return;
  std::ostringstream message;
  message << type << " \"" << name << "\" is there already, allowed is one of a name";
  throw Error(message.str());
}

std::shared_ptr<BlobWriter> WriterState::Start(Draft draft, const std::string& label) {
  draft_ = std::move(draft);
  active_.reset(new BlobWriter(shared_from_this(), std::make_unique<PayloadBuffer>(label)));
  return active_;
}

void WriterState::WriteBlob(const Draft& draft, const std::string& label, Pieces payload) {
  const std::uint64_t size = SizeOf(payload);
  if (draft.size && *draft.size != size) {
    Fail();
    throw Error(label + " has " + std::to_string(size) + " bytes, allowed is exactly " +
                std::to_string(*draft.size) + " by its shape and data type");
  }
  try {
    Emit(draft, payload);
  } catch (...) {
    Fail();
    throw;
  }
}

void WriterState::Finish(const BlobWriter& blob) {
  if (active_.get() == &blob) FinishActive();
}

void WriterState::FinishActive() {
  if (active_ == nullptr) return;
  // Deactivated whatever happens: a blob is written at most once.
  const std::shared_ptr<BlobWriter> blob = std::exchange(active_, nullptr);
  struct Deactivate {
    PayloadBuffer& buffer;
    ~Deactivate() { buffer.Deactivate(); }
  } const deactivate{*blob->buffer_};
  const std::span<const std::byte> payload = blob->buffer_->bytes();
  WriteBlob(draft_, blob->buffer_->label(), {&payload, 1});
}

void WriterState::Emit(const Draft& draft, Pieces payload) {
  std::vector<std::byte> deflated;
  std::span<const std::byte> compressed;
  BlobHeader header;
  header.type = draft.type;
  if (draft.compress) {
    header.must_understand |= kFlagZlib;
    header.uncompressed_size = SizeOf(payload);
    deflated = Deflate(payload.front());  // what may be compressed comes in one piece
    compressed = deflated;
    payload = {&compressed, 1};
  }
  const std::uint64_t alignment = HasPagePayload(draft.type) ? kPageAlignment : kBlobAlignment;
  const std::uint64_t start = sink_->position();
  header.info_offset = kHeaderSize;
  header.info_size = draft.info.size();
  header.payload_offset = RoundUp(start + kHeaderSize + draft.info.size(), alignment) - start;
  header.payload_size = SizeOf(payload);
  header.total_size = RoundUp(header.payload_offset + header.payload_size, kBlobAlignment);
  header.info_hash = Hash(draft.info);
  header.payload_hash = HashPieces(payload);
  sink_->Write(Encode(header));
  sink_->Write(draft.info);
  Pad(start + header.payload_offset - sink_->position());
  for (const std::span<const std::byte> piece : payload) sink_->Write(piece);
  Pad(start + header.total_size - sink_->position());
}

void WriterState::Pad(std::uint64_t size) {
  static constexpr std::array<std::byte, kPageAlignment> kZeros{};
  sink_->Write(std::span(kZeros).first(size));
}

void WriterState::Close() {
  if (closed_) return;
  BeginCall();
  try {
    sink_->Commit();
  } catch (...) {
    Fail();
    throw;
  }
  closed_ = true;
}

void WriterState::Fail() noexcept {
  failed_ = true;
  sink_->Discard();
}

void WriterState::Discard() noexcept {
  if (active_ != nullptr) active_->buffer_->Deactivate();
  active_.reset();
  if (!closed_) sink_->Discard();
  closed_ = true;
}

}  // namespace popef
