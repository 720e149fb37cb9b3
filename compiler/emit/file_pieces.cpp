#include "compiler/emit/file_pieces.hpp"

#include <utility>

namespace poprt::emit {
namespace {

/// A piece of its own costs a call of the system when it is written.
constexpr std::size_t kLargeTensor = std::size_t{1} << 16;

std::string_view BytesOf(const std::string& text) { return text; }
std::string_view BytesOf(const Tensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.data()), tensor.bytes()};
}

template <typename Piece>
std::string_view ViewOf(const Piece& piece) {
  return std::visit([](const auto& content) { return BytesOf(content); }, piece);
}

}  // namespace

void FilePieces::Append(std::string_view text) {
  if (pieces_.empty() || !std::holds_alternative<std::string>(pieces_.back())) {
    pieces_.emplace_back(std::string());
  }
  std::get<std::string>(pieces_.back()) += text;
  bytes_ += text.size();
}

void FilePieces::Append(const Tensor& tensor) {
  if (tensor.bytes() < kLargeTensor) return Append(BytesOf(tensor));
  pieces_.emplace_back(tensor);
  bytes_ += tensor.bytes();
}

std::string FilePieces::ToString() const {
  std::string text;
  text.reserve(bytes_);
  for (const Piece& piece : pieces_) text += ViewOf(piece);
  return text;
}

void FilePieces::Drain(const std::function<bool(std::string_view)>& take) {
  for (Piece& piece : std::exchange(pieces_, {})) {
    if (!take(ViewOf(piece))) break;
    piece = std::string();
  }
  bytes_ = 0;
}

}  // namespace poprt::emit
