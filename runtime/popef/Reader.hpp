#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <istream>
#include <memory>
#include <span>
#include <streambuf>
#include <string>
#include <vector>

#include "popef/Types.hpp"

namespace popef {

struct Payload;
struct ParsedFile;

/// Bytes of a payload without a copy. `data` is valid as long as somebody holds `owner`; it starts
/// on a multiple of 64 in memory and must not be written.
struct PayloadView {
  std::shared_ptr<const void> owner;
  const std::byte* data = nullptr;
  std::size_t size = 0;

#ifdef __cpp_lib_span  // headers also serve programs in C++17
  std::span<const std::byte> bytes() const { return {data, size}; }
#endif
};

/// A seekable input stream over a payload. Positions count from the start of the payload. A copy
/// reads the same bytes and starts at position 0. One stream is for one thread at a time.
class PayloadStream : public std::istream {
 public:
  explicit PayloadStream(const PayloadView& view);
  PayloadStream(const PayloadStream& other);
  PayloadStream& operator=(const PayloadStream& other);
  ~PayloadStream() override = default;

 private:
  class Buffer : public std::streambuf {
   public:
    void Reset(const PayloadView& view);
    const PayloadView& view() const { return view_; }

   protected:
    pos_type seekoff(off_type offset, std::ios_base::seekdir from,
                     std::ios_base::openmode which) override;
    pos_type seekpos(pos_type position, std::ios_base::openmode which) override;

   private:
    PayloadView view_;
  };

  Buffer buffer_;
};

/// What the readers of the four kinds of payload have in common. Readers are cheap to copy; each
/// keeps the mapped file alive, also after the Reader is gone. Const members may be called by
/// several threads, except that the public `data` streams hold a position.
class PayloadReader {
 public:
  /// The bytes, straight from the mapped file; decompressed into memory of its own on each call if
  /// the payload is stored compressed. Throws Error if decompression fails.
  PayloadView view() const;
  /// Reads the payload and compares its hash. Throws Error if it has been altered.
  void verify() const;
  /// Bytes of the payload after decompression.
  std::uint64_t getAvailableReadSize() const;

 protected:
  explicit PayloadReader(std::shared_ptr<const Payload> payload);
  std::unique_ptr<std::istream> OpenStream() const;
  bool IsCompressed() const;

 private:
  std::shared_ptr<const Payload> payload_;
};

class ExecutableReader : public PayloadReader {
 public:
  ExecutableReader(std::string blob_name, std::shared_ptr<const Payload> payload);

  /// A stream with a position of its own, decompressed if needed.
  std::unique_ptr<std::istream> getStandaloneExecutableStream() const { return OpenStream(); }
  /// True if the payload is stored compressed.
  bool compressed() const { return IsCompressed(); }

  std::string name;
};

class TensorReader : public PayloadReader {
 public:
  TensorReader(TensorDataInfo data_info, std::shared_ptr<const Payload> payload);

  /// A stream with a position of its own.
  std::unique_ptr<std::istream> getStandaloneDataStream() const { return OpenStream(); }

  TensorDataInfo info;
  /// The elements. Usable through a const reader, so not for several threads at once.
  mutable PayloadStream data;
};

class FeedReader : public PayloadReader {
 public:
  FeedReader(FeedDataInfo data_info, std::shared_ptr<const Payload> payload);

  /// A stream with a position of its own.
  std::unique_ptr<std::istream> getStandaloneDataStream() const { return OpenStream(); }

  FeedDataInfo info;
  /// The tensors, one behind the other. Usable through a const reader, so not for several threads.
  mutable PayloadStream data;
};

class OpaqueReader : public PayloadReader {
 public:
  OpaqueReader(std::string blob_name, std::string executable_name,
               std::shared_ptr<const Payload> payload);

  /// A stream with a position of its own.
  std::unique_ptr<std::istream> getStandaloneDataStream() const { return OpenStream(); }

  std::string name;
  /// Name of the executable it belongs to.
  std::string executable;
  /// Usable through a const reader, so not for several threads at once.
  mutable PayloadStream data;
};

/// A row of the blob table, for tools. Offsets count from the start of the file.
struct BlobInfo {
  std::string file;
  std::uint16_t versionMajor = 0;
  std::uint16_t versionMinor = 0;
  /// May hold a number without enumerator: a kind of a newer version, passed over by the reader.
  BlobType type = BlobType::OPAQUE;
  /// Of the blob; for metadata the executable it describes; empty for unknown kinds.
  std::string name;
  std::uint32_t mustUnderstandFlags = 0;
  std::uint32_t mayIgnoreFlags = 0;
  std::uint64_t offset = 0;
  std::uint64_t totalSize = 0;
  std::uint64_t infoOffset = 0;
  std::uint64_t infoSize = 0;
  std::uint64_t payloadOffset = 0;
  /// As stored.
  std::uint64_t payloadSize = 0;
  /// Equals payloadSize unless compressed.
  std::uint64_t uncompressedSize = 0;
  bool compressed = false;
  /// The largest power of two, up to 4096, that divides payloadOffset.
  std::uint64_t alignment = 0;
  std::uint64_t infoHash = 0;
  std::uint64_t payloadHash = 0;
};

/// Reads containers. Several may be parsed; blobs accumulate in the order of the calls. A call that
/// throws leaves the reader as it was. Headers, infos and padding are always verified, payloads
/// only by verifyPayloads(), so that parsing a file touches few of its pages. Copies share the
/// mapped files. Parsing is not thread-safe; everything const is, see PayloadReader.
class Reader {
 public:
  /// Maps the file. Throws Error with file, byte offset, what was found and what is allowed.
  void parseFile(const std::string& path);

  /// Reads `size` bytes from the current position into memory, or all up to the end if 0. Throws
  /// Error as parseFile does; the file is then called "stream".
  void parseStream(std::shared_ptr<std::istream> stream, std::uint64_t size = 0);

  const std::vector<Metadata>& metadata() const { return metadata_; }
  const std::vector<ExecutableReader>& executables() const { return executables_; }
  const std::vector<TensorReader>& tensors() const { return tensors_; }
  const std::vector<FeedReader>& feeds() const { return feeds_; }
  const std::vector<OpaqueReader>& opaqueBlobs() const { return opaques_; }

  /// Every blob read, also those of unknown kind.
  const std::vector<BlobInfo>& blobs() const { return blobs_; }

  /// Reads every payload and compares its hash. Throws one Error that lists all altered ones.
  void verifyPayloads() const;

 private:
  void Add(ParsedFile file);
  void CheckUnique() const;

  std::vector<Metadata> metadata_;
  std::vector<ExecutableReader> executables_;
  std::vector<TensorReader> tensors_;
  std::vector<FeedReader> feeds_;
  std::vector<OpaqueReader> opaques_;
  std::vector<BlobInfo> blobs_;
  /// One for each entry of blobs_.
  std::vector<std::shared_ptr<const Payload>> payloads_;
};

}  // namespace popef
