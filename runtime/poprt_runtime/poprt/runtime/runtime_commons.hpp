#pragma once

#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "popef/Types.hpp"

namespace poprt::runtime {

/// User memory the library may write. Does not own it.
struct TensorMemoryView {
  TensorMemoryView() = default;
  TensorMemoryView(void* memory, std::uint64_t sizeBytes)
      : data(memory), dataSizeBytes(sizeBytes) {}

  void* data = nullptr;
  std::uint64_t dataSizeBytes = 0;
};

/// User memory the library may read. Does not own it.
struct ConstTensorMemoryView {
  ConstTensorMemoryView() = default;
  ConstTensorMemoryView(const TensorMemoryView& view)  // NOLINT(google-explicit-constructor)
      : data(view.data), dataSizeBytes(view.dataSizeBytes) {}
  ConstTensorMemoryView(const void* memory, std::uint64_t sizeBytes)
      : data(memory), dataSizeBytes(sizeBytes) {}

  const void* data = nullptr;
  std::uint64_t dataSizeBytes = 0;
};

/// Memory of one tensor; copies share it.
struct TensorMemory {
  TensorMemory() = default;
  /// Allocates, zero-filled. Throws std::invalid_argument for a negative size.
  explicit TensorMemory(std::int64_t sizeBytes);

  TensorMemoryView getView() { return {data.get(), dataSizeBytes}; }
  ConstTensorMemoryView getView() const { return getConstView(); }
  ConstTensorMemoryView getConstView() const { return {data.get(), dataSizeBytes}; }

  std::uint64_t dataSizeBytes = 0;
  std::shared_ptr<void> data;
};

/// Tensors by name.
using InputMemory = std::unordered_map<std::string, TensorMemory>;
using OutputMemory = std::unordered_map<std::string, TensorMemory>;
using InputMemoryView = std::unordered_map<std::string, ConstTensorMemoryView>;
using OutputMemoryView = std::unordered_map<std::string, TensorMemoryView>;
using OutputFutureMemoryView =
    std::unordered_map<std::string, std::shared_future<TensorMemoryView>>;

/// Shapes of results, by the names the request has used.
using OutputShapes = std::unordered_map<std::string, std::vector<std::int64_t>>;

/// One input or output of a model, for one batch. `shape` and `sizeInBytes` of an output with an
/// open axis are the largest possible ones: what to allocate for it.
struct DataDesc {
  DataDesc() = default;
  DataDesc(std::string tensorName, std::int64_t bytes, std::vector<std::int64_t> extents,
           popef::DataType type, bool containsTensorData = false,
           std::optional<std::size_t> axis = std::nullopt)
      : name(std::move(tensorName)),
        sizeInBytes(bytes),
        shape(std::move(extents)),
        dataType(type),
        popefContainsTensorData(containsTensorData),
        openAxis(axis) {}

  std::string name;
  std::int64_t sizeInBytes = 0;
  std::vector<std::int64_t> shape;
  popef::DataType dataType = popef::DataType::F32;
  bool popefContainsTensorData = false;
  /// The axis along which a result's extent depends on the data, if there is one.
  std::optional<std::size_t> openAxis;
};

using InputDesc = DataDesc;
using OutputDesc = DataDesc;

}  // namespace poprt::runtime
