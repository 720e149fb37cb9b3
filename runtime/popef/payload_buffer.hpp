#pragma once

#include <cstddef>
#include <ios>
#include <span>
#include <streambuf>
#include <string>
#include <vector>

namespace popef {

/// A growing, seekable output buffer. It has no put area, so that every write passes through it and
/// can be refused once it is deactivated.
class PayloadBuffer : public std::streambuf {
 public:
  /// `label` is for messages: "tensor data \"w\"".
  explicit PayloadBuffer(std::string label) : label_(std::move(label)) {}

  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(bytes_)); }
  const std::string& label() const { return label_; }

  /// Frees the memory; from now on writing and seeking throw Error.
  void Deactivate();

  /// Throws Error if deactivated.
  void Append(const char* data, std::size_t size);

 protected:
  std::streamsize xsputn(const char* data, std::streamsize size) override;
  int_type overflow(int_type character) override;
  pos_type seekoff(off_type offset, std::ios_base::seekdir from,
                   std::ios_base::openmode which) override;
  pos_type seekpos(pos_type position, std::ios_base::openmode which) override;

 private:
  void RequireActive() const;

  std::string label_;
  std::vector<char> bytes_;
  std::size_t position_ = 0;
  bool active_ = true;
};

}  // namespace popef
