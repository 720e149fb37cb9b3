#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <span>
#include <string>

#include "popef/Types.hpp"

namespace popef {

/// Where a Writer puts its bytes.
class BlobSink {
 public:
  BlobSink() = default;
  BlobSink(const BlobSink&) = delete;
  BlobSink& operator=(const BlobSink&) = delete;
  virtual ~BlobSink() = default;

  /// Offset in the file of the next byte.
  virtual std::uint64_t position() const = 0;
  /// Throws Error.
  virtual void Write(std::span<const std::byte> bytes) = 0;
  /// Makes what was written last. Throws Error.
  virtual void Commit() = 0;
  /// Takes back what was written, as far as the sink can.
  virtual void Discard() noexcept = 0;
};

class StreamSink : public BlobSink {
 public:
  explicit StreamSink(std::ostream& out);
  std::uint64_t position() const override { return position_; }
  void Write(std::span<const std::byte> bytes) override;
  void Commit() override;
  void Discard() noexcept override {}

 private:
  std::ostream& out_;
  std::uint64_t position_;
};

/// A new file under a temporary name, renamed by Commit.
class NewFileSink : public BlobSink {
 public:
  explicit NewFileSink(const std::string& path);
  ~NewFileSink() override;
  std::uint64_t position() const override { return position_; }
  void Write(std::span<const std::byte> bytes) override;
  void Commit() override;
  void Discard() noexcept override;

 private:
  std::string path_;
  std::string temporary_;
  int file_ = -1;
  std::uint64_t position_ = 0;
};

/// The end of an existing file; Discard cuts it back.
class AppendSink : public BlobSink {
 public:
  explicit AppendSink(const std::string& path);
  ~AppendSink() override;
  std::uint64_t position() const override { return position_; }
  void Write(std::span<const std::byte> bytes) override;
  void Commit() override;
  void Discard() noexcept override;

 private:
  std::string path_;
  int file_ = -1;
  std::uint64_t start_ = 0;
  std::uint64_t position_ = 0;
};

}  // namespace popef
