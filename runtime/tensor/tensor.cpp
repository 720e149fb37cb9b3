#include "runtime/tensor/tensor.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace poprt {
namespace {

constexpr std::align_val_t kAlignment{64};

/// From this size on, tensors have pages of their own: they are zero already, and go back to the
/// system at once. A heap would keep them, which for a compiler that makes every weight anew a few
/// times is as much as the model again.
constexpr std::size_t kPagesFrom = std::size_t{1} << 17;

std::shared_ptr<std::byte[]> AllocatePages(std::size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return {static_cast<std::byte*>(memory), [bytes](std::byte* p) { ::munmap(p, bytes); }};
}

std::shared_ptr<std::byte[]> Allocate(std::size_t bytes) {
  if (bytes >= kPagesFrom) return AllocatePages(bytes);
  auto* memory =
      static_cast<std::byte*>(::operator new[](std::max<std::size_t>(bytes, 1), kAlignment));
  return {memory, [](std::byte* p) { ::operator delete[](p, kAlignment); }};
}

}  // namespace

Tensor::Tensor(TensorType type) : type_(std::move(type)), data_(Allocate(type_.bytes())) {
  if (bytes() < kPagesFrom) std::memset(data_.get(), 0, bytes());
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
