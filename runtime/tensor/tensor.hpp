#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "runtime/tensor/shape.hpp"

namespace poprt {

/// A tensor with its elements in row-major order. Copies share the elements, which must not be
/// written once a second copy exists; that makes a Tensor cheap to pass and safe to read from many
/// threads.
class Tensor {
 public:
  Tensor() = default;
  /// Zero-filled, aligned to 64 bytes. `type.shape` must be valid.
  explicit Tensor(TensorType type);
  /// Copies `elements`, whose size must be type.bytes().
  Tensor(TensorType type, const void* elements);

  /// A rank-1 or scalar tensor of the given values.
  template <typename T>
  static Tensor Of(ElementType element, Shape shape, std::span<const T> values) {
    return Tensor(TensorType{element, std::move(shape)}, values.data());
  }

  const TensorType& type() const { return type_; }
  const Shape& shape() const { return type_.shape; }
  ElementType element() const { return type_.element; }
  std::int64_t count() const { return ElementCount(type_.shape); }
  std::size_t bytes() const { return type_.bytes(); }

  const std::byte* data() const { return data_.get(); }
  std::byte* mutable_data() { return data_.get(); }
  template <typename T>
  std::span<const T> as() const {
    return {reinterpret_cast<const T*>(data()), static_cast<std::size_t>(count())};
  }
  template <typename T>
  std::span<T> as_mutable() {
    return {reinterpret_cast<T*>(mutable_data()), static_cast<std::size_t>(count())};
  }

  /// Same elements under another type of the same size in bytes.
  Tensor WithType(TensorType type) const;

  /// Same type and same bytes.
  bool operator==(const Tensor& other) const;

 private:
  TensorType type_;
  std::shared_ptr<std::byte[]> data_;
};

}  // namespace poprt
