#pragma once

#include <cstddef>
#include <type_traits>

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
