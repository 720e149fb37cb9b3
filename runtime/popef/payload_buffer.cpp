#include "runtime/popef/payload_buffer.hpp"

#include <algorithm>

#include "popef/Types.hpp"

namespace popef {

void PayloadBuffer::Deactivate() {
  active_ = false;
  bytes_ = {};
}

void PayloadBuffer::RequireActive() const {
  if (!active_) {
    throw Error(label_ + " is finished: it was closed or the next blob was started; write all of " +
                "its data before");
  }
}

void PayloadBuffer::Append(const char* data, std::size_t size) {
  RequireActive();
  const std::size_t overwritten = std::min(size, bytes_.size() - position_);
  std::copy_n(data, overwritten, bytes_.begin() + static_cast<std::ptrdiff_t>(position_));
  bytes_.insert(bytes_.end(), data + overwritten, data + size);
  position_ += size;
}

std::streamsize PayloadBuffer::xsputn(const char* data, std::streamsize size) {
  Append(data, static_cast<std::size_t>(size));
  return size;
}

PayloadBuffer::int_type PayloadBuffer::overflow(int_type character) {
  if (!traits_type::eq_int_type(character, traits_type::eof())) {
    const char byte = traits_type::to_char_type(character);
    Append(&byte, 1);
  }
  return traits_type::not_eof(character);
}

PayloadBuffer::pos_type PayloadBuffer::seekoff(off_type offset, std::ios_base::seekdir from,
                                               std::ios_base::openmode which) {
  RequireActive();
  const auto size = static_cast<off_type>(bytes_.size());
  off_type base = 0;
  if (from == std::ios_base::cur) base = static_cast<off_type>(position_);
  if (from == std::ios_base::end) base = size;
  if ((which & std::ios_base::out) == 0 || offset < -base || offset > size - base) return {-1};
  position_ = static_cast<std::size_t>(base + offset);
  return {base + offset};
}

PayloadBuffer::pos_type PayloadBuffer::seekpos(pos_type position, std::ios_base::openmode which) {
  return seekoff(off_type(position), std::ios_base::beg, which);
}

}  // namespace popef
