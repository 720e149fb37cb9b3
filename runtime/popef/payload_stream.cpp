#include "popef/Reader.hpp"

namespace popef {

PayloadStream::PayloadStream(const PayloadView& view) : std::istream(nullptr) {
  buffer_.Reset(view);
  rdbuf(&buffer_);
}

PayloadStream::PayloadStream(const PayloadStream& other) : PayloadStream(other.buffer_.view()) {}

PayloadStream& PayloadStream::operator=(const PayloadStream& other) {
  if (this != &other) {
    buffer_.Reset(other.buffer_.view());
    clear();
  }
  return *this;
}

void PayloadStream::Buffer::Reset(const PayloadView& view) {
  view_ = view;
  // streambuf wants char*; nothing here or in std::istream writes through it.
  auto* begin = const_cast<char*>(reinterpret_cast<const char*>(view_.data));
  setg(begin, begin, begin + view_.size);
}

PayloadStream::Buffer::pos_type PayloadStream::Buffer::seekoff(off_type offset,
                                                               std::ios_base::seekdir from,
                                                               std::ios_base::openmode which) {
  const auto size = static_cast<off_type>(egptr() - eback());
  off_type base = 0;
  if (from == std::ios_base::cur) base = gptr() - eback();
  if (from == std::ios_base::end) base = size;
  // Compared by subtraction: offset may be any number.
  if ((which & std::ios_base::in) == 0 || offset < -base || offset > size - base) return {-1};
  setg(eback(), eback() + base + offset, egptr());
  return {base + offset};
}

PayloadStream::Buffer::pos_type PayloadStream::Buffer::seekpos(pos_type position,
                                                               std::ios_base::openmode which) {
  return seekoff(off_type(position), std::ios_base::beg, which);
}

}  // namespace popef
