#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "runtime/kernels/packed/row_tiles.hpp"
#include "runtime/kernels/thread_pool.hpp"
#include "runtime/tensor/half.hpp"
#include "runtime/tensor/tensor.hpp"

/// What all ways of packing weights share: both types of elements they may have, and their checks.
namespace poprt::kernels {

/// Throws KernelError unless weights can be stored as that type: float32 or float16.
void RequireStored(ElementType stored);

/// Throws KernelError unless these are weights of that rank, with elements.
void RequireWeights(const Tensor& weights, std::size_t rank);

template <typename To, typename From>
To ConvertElement(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else {
    return To(static_cast<float>(value));
  }
}

/// Calls pack(i) for every panel of that many columns, on all threads of the process.
template <typename Pack>
void PackPanels(std::int64_t columns, const Pack& pack) {
  const std::int64_t panels = columns / kPanel + (columns % kPanel != 0 ? 1 : 0);
  ProcessThreadPool().Run(panels, [&](std::int64_t panel, int /*worker*/) { pack(panel); });
}

/// Calls pack(i) for every column; those of a panel, which share cache lines, follow each other on
/// one thread.
template <typename Pack>
void PackColumns(std::int64_t columns, const Pack& pack) {
  PackPanels(columns, [&](std::int64_t panel) {
    const std::int64_t end = std::min((panel + 1) * kPanel, columns);
    for (std::int64_t column = panel * kPanel; column < end; ++column) pack(column);
  });
}

/// Calls pack(const From*, To*) with the element types of both tensors.
template <typename Pack>
void WithElements(const Tensor& from, Tensor& to, Pack pack) {
  const auto with_source = [&](const auto* source) {
    if (to.element() == ElementType::kFloat32) {
      pack(source, to.as_mutable<float>().data());
    } else {
      pack(source, to.as_mutable<Float16>().data());
    }
  };
  if (from.element() == ElementType::kFloat32) {
    with_source(from.as<float>().data());
  } else {
    with_source(from.as<Float16>().data());
  }
}

}  // namespace poprt::kernels
