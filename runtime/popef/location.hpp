#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "popef/Types.hpp"

namespace popef {

/// A place in a file, for messages. The name is shared by all blobs of a file.
struct Location {
  std::shared_ptr<const std::string> file;
  std::uint64_t offset = 0;

  Location At(std::uint64_t bytes_further) const { return {file, offset + bytes_further}; }
};

/// "FILE: byte OFFSET: ".
std::string ToString(const Location& where);

/// Throws Error "FILE: byte OFFSET: WHAT is FOUND, allowed is ALLOWED".
[[noreturn]] void Refuse(const Location& where, const std::string& what, const std::string& found,
                         const std::string& allowed);
[[noreturn]] void Refuse(const Location& where, const std::string& what, std::uint64_t found,
                         const std::string& allowed);

/// "0x00000000075bcd15".
std::string Hex(std::uint64_t value);

}  // namespace popef
