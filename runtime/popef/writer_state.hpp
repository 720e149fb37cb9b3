#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>

#include "popef/Writer.hpp"
#include "runtime/popef/blob_sink.hpp"
#include "runtime/popef/info_codec.hpp"

namespace popef {

/// What a Writer shares with its blob writers: the sink, the names used and the active blob.
class WriterState : public std::enable_shared_from_this<WriterState> {
 public:
  /// A blob that has been started.
  struct Draft {
    BlobType type;
    InfoBytes info;
    bool compress = false;
    /// Bytes the payload must have; unset if any number is allowed.
    std::optional<std::uint64_t> size;
  };

  using Pieces = std::span<const std::span<const std::byte>>;

  explicit WriterState(std::unique_ptr<BlobSink> sink) : sink_(std::move(sink)) {}

  /// Finishes the active blob and refuses the call if the Writer is closed or has failed.
  void BeginCall();

  /// Throws Error if a blob of this kind and name (and, for opaque blobs, executable) was written.
  void Reserve(BlobType type, const std::string& name, const std::string& executable = "");

  std::shared_ptr<BlobWriter> Start(Draft draft, const std::string& label);
  /// Writes a whole blob, whose payload is the pieces one behind the other.
  void WriteBlob(const Draft& draft, const std::string& label, Pieces payload);

  /// Finishes `blob` if it is the active one.
  void Finish(const BlobWriter& blob);
  void Close();
  /// Ends without finishing: takes back what was written, as far as the sink can.
  void Discard() noexcept;

 private:
  void FinishActive();
  void Fail() noexcept;
  void Emit(const Draft& draft, Pieces payload);
  void Pad(std::uint64_t size);

  std::unique_ptr<BlobSink> sink_;
  std::set<std::tuple<BlobType, std::string, std::string>> names_;
  std::shared_ptr<BlobWriter> active_;
  Draft draft_{};
  bool failed_ = false;
  bool closed_ = false;
};

}  // namespace popef
