#pragma once

#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace model_runtime {

/// User memory the library may write. Does not own it.
struct TensorMemoryView {
  TensorMemoryView() = default;
  TensorMemoryView(void* memory, std::uint64_t size_bytes)
      : data(memory), data_size_bytes(size_bytes) {}

  void* data = nullptr;
  std::uint64_t data_size_bytes = 0;
};

/// User memory the library may read. Does not own it.
struct ConstTensorMemoryView {
  ConstTensorMemoryView() = default;
  ConstTensorMemoryView(const TensorMemoryView& view)  // NOLINT(google-explicit-constructor)
      : data(view.data), data_size_bytes(view.data_size_bytes) {}
  ConstTensorMemoryView(const void* memory, std::uint64_t size_bytes)
      : data(memory), data_size_bytes(size_bytes) {}

  const void* data = nullptr;
  std::uint64_t data_size_bytes = 0;
};

/// Memory of one tensor; copies share it.
struct TensorMemory {
  TensorMemory() = default;
  /// Allocates, aligned to 64 bytes, zero-filled. Throws std::invalid_argument for a negative size.
  explicit TensorMemory(std::int64_t size_bytes);

  TensorMemoryView getView() { return {data.get(), data_size_bytes}; }
  ConstTensorMemoryView getView() const { return getConstView(); }
  ConstTensorMemoryView getConstView() const { return {data.get(), data_size_bytes}; }

  std::uint64_t data_size_bytes = 0;
  std::shared_ptr<void> data;
};

/// Tensors by name.
using InputMemory = std::unordered_map<std::string, TensorMemory>;
using OutputMemory = std::unordered_map<std::string, TensorMemory>;
using InputMemoryView = std::unordered_map<std::string, ConstTensorMemoryView>;
using OutputMemoryView = std::unordered_map<std::string, TensorMemoryView>;
using OutputFutureMemory = std::unordered_map<std::string, std::shared_future<TensorMemory>>;
using OutputFutureMemoryView =
    std::unordered_map<std::string, std::shared_future<TensorMemoryView>>;

/// Shapes of results, by the names the request has used.
using OutputShapes = std::unordered_map<std::string, std::vector<std::int64_t>>;

}  // namespace model_runtime
