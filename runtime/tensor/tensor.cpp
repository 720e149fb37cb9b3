#include "runtime/tensor/tensor.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace poprt {
namespace {

constexpr std::align_val_t kAlignment{64};

std::shared_ptr<std::byte[]> Allocate(std::size_t bytes) {
  auto* memory =
      static_cast<std::byte*>(::operator new[](std::max<std::size_t>(bytes, 1), kAlignment));
  return {memory, [](std::byte* p) { ::operator delete[](p, kAlignment); }};
}

}  // namespace

Tensor::Tensor(TensorType type) : type_(std::move(type)), data_(Allocate(type_.bytes())) {
  std::memset(data_.get(), 0, bytes());
}

Tensor::Tensor(TensorType type, const void* elements)
    : type_(std::move(type)), data_(Allocate(type_.bytes())) {
  if (bytes() > 0) std::memcpy(data_.get(), elements, bytes());
}

Tensor Tensor::WithType(TensorType type) const {
  Tensor result;
  result.type_ = std::move(type);
  result.data_ = data_;
  return result;
}

bool Tensor::operator==(const Tensor& other) const {
  return type_ == other.type_ && std::memcmp(data(), other.data(), bytes()) == 0;
}

}  // namespace poprt
