#include "popef/Writer.hpp"

#include <exception>
#include <utility>

#include "popef/Reader.hpp"
#include "runtime/popef/blob_sink.hpp"
#include "runtime/popef/info_codec.hpp"
#include "runtime/popef/log.hpp"
#include "runtime/popef/payload_buffer.hpp"
#include "runtime/popef/writer_state.hpp"

namespace popef {
namespace {

std::string Label(const std::string& kind, const std::string& name) {
  return kind + " \"" + name + "\"";
}

std::unique_ptr<BlobSink> OpenFile(const std::string& path, FileWriter::Mode mode) {
  if (mode == FileWriter::Mode::APPEND) return std::make_unique<AppendSink>(path);
  return std::make_unique<NewFileSink>(path);
}

WriterState::Draft TensorDraft(const TensorDataInfo& info) {
  return {.type = BlobType::DATA_TENSOR,
          .info = EncodeTensorData(info),
          .size = static_cast<std::uint64_t>(info.tensorInfo().sizeInBytes())};
}

}  // namespace

BlobWriter::BlobWriter(std::shared_ptr<WriterState> state, std::unique_ptr<PayloadBuffer> buffer)
    : state_(std::move(state)), buffer_(std::move(buffer)), stream(buffer_.get()) {
  // Lets the Error of a deactivated buffer through; a stream swallows exceptions otherwise.
  stream.exceptions(std::ios::badbit);
}

BlobWriter::~BlobWriter() = default;

void BlobWriter::write(const void* data, std::size_t size) {
  buffer_->Append(static_cast<const char*>(data), size);
}

void BlobWriter::close() { state_->Finish(*this); }

Writer::Writer(std::ostream& out) : Writer(std::make_unique<StreamSink>(out)) {}

Writer::Writer(std::unique_ptr<BlobSink> sink)
    : state_(std::make_shared<WriterState>(std::move(sink))) {}

Writer::~Writer() { FinishInDestructor(); }

void Writer::FinishInDestructor() noexcept {
  try {
    state_->Close();
  } catch (const std::exception& error) {
    Log(LogLevel::kError, error.what());
  }
  state_->Discard();
}

void Writer::DiscardUnfinished() noexcept { state_->Discard(); }

void Writer::Reserve(BlobType type, const std::string& name, const std::string& executable) {
  state_->Reserve(type, name, executable);
}

void Writer::write(const Metadata& metadata) {
  state_->BeginCall();
  state_->WriteBlob({.type = BlobType::METADATA, .info = EncodeMetadata(metadata), .size = {}},
                    Label("metadata of", metadata.executable()), {});
}

std::shared_ptr<BlobWriter> Writer::createExecutable(const std::string& name, bool compress) {
  state_->BeginCall();
  WriterState::Draft draft{.type = BlobType::POPLAR_EXECUTABLE,
                           .info = EncodeExecutable(name),
                           .compress = compress,
                           .size = {}};
  state_->Reserve(draft.type, name);
  return state_->Start(std::move(draft), Label("executable", name));
}

std::shared_ptr<BlobWriter> Writer::createOpaqueBlob(const std::string& name,
                                                     const std::string& executable_name) {
  state_->BeginCall();
  WriterState::Draft draft{
      .type = BlobType::OPAQUE, .info = EncodeOpaque({name, executable_name}), .size = {}};
  state_->Reserve(draft.type, name, executable_name);
  return state_->Start(std::move(draft), Label("opaque blob", name));
}

std::shared_ptr<BlobWriter> Writer::createTensorData(const TensorDataInfo& info) {
  state_->BeginCall();
  WriterState::Draft draft = TensorDraft(info);
  state_->Reserve(draft.type, info.name());
  return state_->Start(std::move(draft), Label("tensor data", info.name()));
}

std::shared_ptr<BlobWriter> Writer::createFeedData(const FeedDataInfo& info) {
  state_->BeginCall();
  WriterState::Draft draft{.type = BlobType::DATA_FEED,
                           .info = EncodeFeedData(info),
                           .size = static_cast<std::uint64_t>(info.sizeInBytes())};
  state_->Reserve(draft.type, info.name());
  return state_->Start(std::move(draft), Label("feed data", info.name()));
}

void Writer::writeTensorData(const TensorDataInfo& info, std::span<const std::byte> data) {
  state_->BeginCall();
  const WriterState::Draft draft = TensorDraft(info);
  state_->Reserve(draft.type, info.name());
  state_->WriteBlob(draft, Label("tensor data", info.name()), {&data, 1});
}

void Writer::writeExecutable(const std::string& name,
                             std::span<const std::span<const std::byte>> pieces) {
  state_->BeginCall();
  const WriterState::Draft draft{
      .type = BlobType::POPLAR_EXECUTABLE, .info = EncodeExecutable(name), .size = {}};
  state_->Reserve(draft.type, name);
  state_->WriteBlob(draft, Label("executable", name), pieces);
}

void Writer::close() { state_->Close(); }

FileWriter::FileWriter(const std::string& path, Mode mode)
    : Writer(OpenFile(path, mode)), mode_(mode), exceptions_(std::uncaught_exceptions()) {
  if (mode == Mode::CREATE) return;
  Reader existing;
  existing.parseFile(path);
  for (const auto& blob : existing.executables()) {
    Reserve(BlobType::POPLAR_EXECUTABLE, blob.name, "");
  }
  for (const auto& blob : existing.tensors()) Reserve(BlobType::DATA_TENSOR, blob.info.name(), "");
  for (const auto& blob : existing.feeds()) Reserve(BlobType::DATA_FEED, blob.info.name(), "");
  for (const auto& blob : existing.opaqueBlobs()) {
    Reserve(BlobType::OPAQUE, blob.name, blob.executable);
  }
}

FileWriter::~FileWriter() {
  const bool unwinding = std::uncaught_exceptions() > exceptions_;
  if (mode_ == Mode::APPEND && !unwinding) {
    FinishInDestructor();
  } else {
    DiscardUnfinished();
  }
}

}  // namespace popef
