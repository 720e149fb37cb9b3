#include "compiler/frontend/proto/npy_file.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "compiler/frontend/import_time/utf8.hpp"

namespace poprt::frontend {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

/// What the header says.
struct Header {
  std::string descr;
  bool is_fortran = false;
  Shape shape;
};

absl::Status Wrong(std::size_t at, const std::string& what) {
  return absl::InvalidArgumentError("is no valid .npy file: at byte " + std::to_string(at) + ", " +
                                    what);
}

/// Reads the header, which is a Python dictionary with exactly three known keys.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, std::size_t offset) : text_(text), offset_(offset) {}

  absl::StatusOr<Header> Run() {
    Header header;
    bool has_descr = false;
    bool has_order = false;
    bool has_shape = false;
    if (!Take('{')) return Expected("'{'");
    while (!Take('}')) {
      const std::optional<std::string> key = ReadString();
      if (!key) return Expected("a key in quotes");
      if (!Take(':')) return Expected("':'");
      bool* seen = *key == "descr"           ? &has_descr
                   : *key == "fortran_order" ? &has_order
                   : *key == "shape"         ? &has_shape
                                             : nullptr;
      if (seen == nullptr || *seen) {
        return Expected("each of the keys 'descr', 'fortran_order' and 'shape' once before it");
      }
      *seen = true;
      if (seen == &has_descr) {
        std::optional<std::string> descr = ReadString();
        if (!descr) return Expected("an element type in quotes; records are not supported");
        header.descr = *std::move(descr);
      } else if (seen == &has_order) {
        const std::optional<bool> order = ReadBool();
        if (!order) return Expected("True or False");
        header.is_fortran = *order;
      } else if (!ReadShape(header.shape)) {
        return Expected("a tuple of extents");
      }
      if (!Take(',') && Peek() != '}') return Expected("',' or '}'");
    }
    Skip();
    if (at_ != text_.size()) return Expected("the end of the header");
    if (!has_descr || !has_order || !has_shape) {
      return Expected("each of the keys 'descr', 'fortran_order' and 'shape' before it");
    }
    return header;
  }

 private:
  absl::Status Expected(const std::string& what) const {
    return Wrong(offset_ + at_, "the header should have " + what);
  }

  void Skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }

  char Peek() {
    Skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool Take(char wanted) {
    if (Peek() != wanted) return false;
    ++at_;
    return true;
  }

  std::optional<std::string> ReadString() {
    const char quote = Peek();
    if (quote != '\'' && quote != '"') return std::nullopt;
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) return std::nullopt;
    std::string text(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return text;
  }

  std::optional<bool> ReadBool() {
    Skip();
    for (const std::string_view word : {std::string_view("True"), std::string_view("False")}) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return word == "True";
    }
    return std::nullopt;
  }

  bool ReadShape(Shape& shape) {
    if (!Take('(')) return false;
    while (!Take(')')) {
      Skip();
      std::int64_t extent = 0;
      const char* const first = text_.data() + at_;
      const auto [end, error] = std::from_chars(first, text_.data() + text_.size(), extent);
      if (error != std::errc{} || *first == '-') return false;
      at_ += static_cast<std::size_t>(end - first);
      Take('L');  // written by Python 2
      shape.push_back(extent);
      if (!Take(',') && Peek() != ')') return false;
    }
    return true;
  }

  std::string_view text_;
  std::size_t offset_;  // of the text in the file
  std::size_t at_ = 0;
};

/// Kind, size and byte order of the elements.
struct Descr {
  char kind = '\0';
  std::size_t bytes = 0;
  bool is_big_endian = false;
};

std::optional<Descr> ParseDescr(std::string_view text) {
  if (text.size() < 3) return std::nullopt;
  const char order = text[0];
  if (order != '<' && order != '>' && order != '|' && order != '=') return std::nullopt;
  Descr descr{.kind = text[1], .is_big_endian = order == '>'};
  const auto [end, error] =
      std::from_chars(text.data() + 2, text.data() + text.size(), descr.bytes);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  // A string's length; nothing has more, and it can be multiplied without a check.
  constexpr std::size_t longest = std::size_t{1} << 31;
  if (descr.bytes > longest) return std::nullopt;
  if (descr.kind == 'U') descr.bytes *= sizeof(char32_t);
  return descr;
}

std::optional<ElementType> ElementOf(const Descr& descr) {
  struct Row {
    char kind;
    std::size_t bytes;
    ElementType element;
  };
  static constexpr Row rows[] = {
      {'b', 1, ElementType::kBool},    {'f', 2, ElementType::kFloat16},
      {'f', 4, ElementType::kFloat32}, {'f', 8, ElementType::kFloat64},
      {'i', 1, ElementType::kInt8},    {'i', 2, ElementType::kInt16},
      {'i', 4, ElementType::kInt32},   {'i', 8, ElementType::kInt64},
      {'u', 1, ElementType::kUint8},   {'u', 2, ElementType::kUint16},
      {'u', 4, ElementType::kUint32},  {'u', 8, ElementType::kUint64},
  };
  for (const Row& row : rows) {
    if (row.kind == descr.kind && row.bytes == descr.bytes) return row.element;
  }
  return std::nullopt;
}

/// Copies `count` elements in the order of the file to row-major order.
void Reorder(const Header& header, std::size_t size, std::int64_t count, const char* from,
             char* to) {
  if (!header.is_fortran || header.shape.size() < 2) {
    if (count > 0) std::memcpy(to, from, static_cast<std::size_t>(count) * size);
    return;
  }
  Shape index(header.shape.size(), 0);
  Shape strides(header.shape.size(), 1);
  for (std::size_t d = 1; d < strides.size(); ++d) {
    strides[d] = strides[d - 1] * header.shape[d - 1];
  }
  std::int64_t position = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(to + static_cast<std::size_t>(i) * size,
                from + static_cast<std::size_t>(position) * size, size);
    for (std::size_t d = index.size(); d-- > 0;) {
      position += strides[d];
      if (++index[d] < header.shape[d]) break;
      position -= strides[d] * index[d];
      index[d] = 0;
    }
  }
}

void SwapBytes(std::string& elements, std::size_t size) {
  for (std::size_t i = 0; i + size <= elements.size(); i += size) {
    std::reverse(elements.begin() + static_cast<std::ptrdiff_t>(i),
                 elements.begin() + static_cast<std::ptrdiff_t>(i + size));
  }
}

absl::StatusOr<StringTensor> StringsOf(const Header& header, const Descr& descr, std::int64_t count,
                                       const std::string& elements) {
  StringTensor strings{header.shape, std::vector<std::string>(static_cast<std::size_t>(count))};
  for (std::size_t i = 0; i < strings.elements.size(); ++i) {
    const std::string_view element =
        std::string_view(elements).substr(i * descr.bytes, descr.bytes);
    std::string& text = strings.elements[i];
    if (descr.kind == 'S') {
      text = element;
    } else {
      for (std::size_t c = 0; c < element.size(); c += sizeof(char32_t)) {
        char32_t point = 0;
        std::memcpy(&point, element.data() + c, sizeof(point));
        if (!AppendUtf8(point, text)) {
          return absl::InvalidArgumentError("holds a string with the number " +
                                            std::to_string(std::uint32_t{point}) +
                                            ", which is no character");
        }
      }
    }
    // NumPy pads with zeros.
    text.erase(text.find_last_not_of('\0') + 1);
  }
  return strings;
}

absl::StatusOr<HostValue> Elements(const Header& header, std::string_view data, std::size_t at) {
  const std::optional<Descr> descr = ParseDescr(header.descr);
  const bool is_text = descr && (descr->kind == 'U' || descr->kind == 'S');
  const std::optional<ElementType> element = descr ? ElementOf(*descr) : std::nullopt;
  if (!descr || (!is_text && !element)) {
    return absl::InvalidArgumentError("has elements of NumPy type '" + header.descr +
                                      "', allowed are bool, integers, floats of 16 to 64 bits and "
                                      "strings (b1, i1 to i8, u1 to u8, f2, f4, f8, U, S)");
  }
  const std::optional<std::int64_t> count = CheckedElementCount(header.shape);
  // Elements of no bytes (empty strings) could be any number.
  constexpr std::int64_t most = std::int64_t{1} << 32;
  const std::size_t size = descr->bytes;
  if (!count || *count > most ||
      (size == 0
           ? !data.empty() || *count > (std::int64_t{1} << 20)
           : data.size() % size != 0 || data.size() / size != static_cast<std::size_t>(*count))) {
    return Wrong(at, "there are " + std::to_string(data.size()) + " bytes of elements, which is " +
                         "not what '" + header.descr + "' of shape " + ToString(header.shape) +
                         " takes");
  }
  std::string elements(data.size(), '\0');
  Reorder(header, size, *count, data.data(), elements.data());
  if (descr->is_big_endian && descr->kind != 'S') {
    SwapBytes(elements, descr->kind == 'U' ? sizeof(char32_t) : size);
  }
  if (is_text) {
    absl::StatusOr<StringTensor> strings = StringsOf(header, *descr, *count, elements);
    if (!strings.ok()) return strings.status();
    return HostValue{*std::move(strings)};
  }
  Tensor tensor({*element, header.shape}, elements.data());
  if (*element == ElementType::kBool) {
    // Kernels rely on 0 and 1.
    for (std::uint8_t& value : tensor.as_mutable<std::uint8_t>()) value = value != 0 ? 1 : 0;
  }
  return HostValue{std::move(tensor)};
}

}  // namespace

absl::StatusOr<HostValue> ParseNpy(std::string_view bytes) {
  if (!bytes.starts_with(kMagic)) return Wrong(0, "there should be '\\x93NUMPY'");
  const std::size_t version_at = kMagic.size();
  if (bytes.size() < version_at + 2) return Wrong(bytes.size(), "the file ends in its header");
  const int major = static_cast<unsigned char>(bytes[version_at]);
  if (major < 1 || major > 3 || bytes[version_at + 1] != '\0') {
    return Wrong(version_at, "there is version " + std::to_string(major) + "." +
                                 std::to_string(static_cast<unsigned char>(bytes[version_at + 1])) +
                                 ", known are 1.0, 2.0 and 3.0");
  }
  const std::size_t length_at = version_at + 2;
  const std::size_t width = major == 1 ? 2 : 4;
  if (bytes.size() - length_at < width) return Wrong(bytes.size(), "the file ends in its header");
  std::size_t length = 0;
  for (std::size_t i = 0; i < width; ++i) {
    length |= std::size_t{static_cast<unsigned char>(bytes[length_at + i])} << (8 * i);
  }
  const std::size_t header_at = length_at + width;
  if (bytes.size() - header_at < length) {
    return Wrong(length_at, "the header should have " + std::to_string(length) +
                                " bytes, but the file has " +
                                std::to_string(bytes.size() - header_at) + " more");
  }
  const absl::StatusOr<Header> header =
      HeaderParser(bytes.substr(header_at, length), header_at).Run();
  if (!header.ok()) return header.status();
  return Elements(*header, bytes.substr(header_at + length), header_at + length);
}

}  // namespace poprt::frontend
