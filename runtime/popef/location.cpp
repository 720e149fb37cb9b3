#include "runtime/popef/location.hpp"

#include <iomanip>
#include <sstream>

namespace popef {

std::string ToString(const Location& where) {
  return *where.file + ": byte " + std::to_string(where.offset) + ": ";
}

void Refuse(const Location& where, const std::string& what, const std::string& found,
            const std::string& allowed) {
  throw Error(ToString(where) + what + " is " + found + ", allowed is " + allowed);
}

void Refuse(const Location& where, const std::string& what, std::uint64_t found,
            const std::string& allowed) {
  Refuse(where, what, std::to_string(found), allowed);
}

std::string Hex(std::uint64_t value) {
  std::ostringstream out;
  out << "0x" << std::hex << std::setfill('0') << std::setw(16) << value;
  return out.str();
}

}  // namespace popef
