#pragma once

#include <cstddef>
#include <memory>
#include <ostream>
#include <span>
#include <string>

#include "popef/Types.hpp"

namespace popef {

class BlobSink;
class PayloadBuffer;
class WriterState;

/// Takes the payload of one blob. It is kept in memory until the blob is finished: by close(), or
/// by the Writer when it starts the next blob or is closed. From then on the blob writer is
/// deactivated: writing to it throws. Not thread-safe.
class BlobWriter {
 public:
  BlobWriter(const BlobWriter&) = delete;
  BlobWriter& operator=(const BlobWriter&) = delete;
  ~BlobWriter();

  /// Appends to the payload. Throws Error if deactivated.
  void write(const void* data, std::size_t size);

  /// Finishes the blob. Throws Error if the payload has not the size that the info of tensor or
  /// feed data promises, or if the file cannot be written. Does nothing the second time.
  void close();

 private:
  friend class WriterState;
  BlobWriter(std::shared_ptr<WriterState> state, std::unique_ptr<PayloadBuffer> buffer);

  std::shared_ptr<WriterState> state_;
  std::unique_ptr<PayloadBuffer> buffer_;

 public:
  /// The payload; seekable, positions count from its start. Throws Error when written to after the
  /// blob is finished.
  std::ostream stream;
};

/// Writes blobs one behind the other to a stream. The same calls give the same bytes. After an
/// Error about a payload or from the file every further call throws. Not thread-safe; one blob
/// writer is active at a time.
class Writer {
 public:
  /// Starts at the current position of `out`, which must be binary and outlive the Writer. Nothing
  /// is written before the first blob is finished; `out` need not be seekable.
  explicit Writer(std::ostream& out);
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  /// Finishes the active blob; an error then goes to the log only, so call close() to see it.
  virtual ~Writer();

  /// Writes a metadata blob.
  void write(const Metadata& metadata);

  /// Starts an executable; `compress` stores it as a zlib stream. The name must not be empty and
  /// unique in this Writer.
  std::shared_ptr<BlobWriter> createExecutable(const std::string& name, bool compress);
  /// Starts a blob of any content that belongs to the named executable.
  std::shared_ptr<BlobWriter> createOpaqueBlob(const std::string& name,
                                               const std::string& executable_name);
  /// Starts tensor data; exactly info.tensorInfo().sizeInBytes() bytes must follow.
  std::shared_ptr<BlobWriter> createTensorData(const TensorDataInfo& info);
  /// Starts feed data; exactly info.sizeInBytes() bytes must follow.
  std::shared_ptr<BlobWriter> createFeedData(const FeedDataInfo& info);

  /// Writes tensor data in one call, straight from the memory of the caller: for large weights.
  /// Throws Error if `data` has not exactly info.tensorInfo().sizeInBytes() bytes.
#ifdef __cpp_lib_span  // headers also serve programs in C++17
  void writeTensorData(const TensorDataInfo& info, std::span<const std::byte> data);
  /// Writes an executable, not compressed, in one call: its payload is the pieces one behind the
  /// other, straight from the memory of the caller.
  void writeExecutable(const std::string& name, std::span<const std::span<const std::byte>> pieces);
#endif

  /// Finishes the active blob and flushes. Does nothing the second time.
  virtual void close();

 protected:
  explicit Writer(std::unique_ptr<BlobSink> sink);
  void FinishInDestructor() noexcept;
  /// Ends without finishing, unless closed already.
  void DiscardUnfinished() noexcept;
  /// Refuses the names of blobs that are in the file already.
  void Reserve(BlobType type, const std::string& name, const std::string& executable);

 private:
  std::shared_ptr<WriterState> state_;
};

/// Writes a file.
class FileWriter : public Writer {
 public:
  enum class Mode {
    /// Writes under a temporary name in the same folder; close() flushes it to the disk and puts it
    /// in the place of `path`. Without close(), and after an error, nothing is left behind and an
    /// older file at `path` stays as it was.
    CREATE,
    /// Checks the existing file as Reader does and writes behind it. Destruction without close()
    /// finishes the file, unless an exception is on its way; then, and after an error, the file is
    /// cut back to its former length.
    APPEND
  };

  /// Throws Error if the file cannot be opened or, for APPEND, is not a valid container.
  FileWriter(const std::string& path, Mode mode);
  ~FileWriter() override;

 private:
  Mode mode_;
  int exceptions_;
};

}  // namespace popef
