#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/tensor/tensor.hpp"

namespace poprt::emit {

/// The bytes of a file to be, in order. Elements of large tensors stay where they are, so that a
/// model is not in memory twice. A value; copies share the tensors.
class FilePieces {
 public:
  FilePieces() = default;
  explicit FilePieces(std::string_view text) { Append(text); }

  void Append(std::string_view text);
  /// The elements. The caller does not change them as long as this object lives.
  void Append(const Tensor& tensor);

  std::uint64_t bytes() const { return bytes_; }
  std::string ToString() const;
  /// Hands on every piece, in order, and lets go of it; stops where `take` gives false.
  void Drain(const std::function<bool(std::string_view)>& take);

 private:
  using Piece = std::variant<std::string, Tensor>;

  std::vector<Piece> pieces_;
  std::uint64_t bytes_ = 0;
};

}  // namespace poprt::emit
