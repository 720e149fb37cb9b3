#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "runtime/kernels/element_types.hpp"

namespace poprt::kernels {

/// out[i] = elements[indices[i]] as C, which holds every value of the element type (int32 in float
/// apart, which is rounded).
template <typename C>
using GatherScales = void (*)(const std::byte* elements, const std::int64_t* indices,
                              std::int64_t count, C* out);

template <typename C, TypeSet kTypes>
GatherScales<C> FindGatherScales(ElementType element) {
  return VisitElement<GatherScales<C>, kTypes>(
      element, []<typename T>(std::type_identity<T>) -> GatherScales<C> {
        return
            [](const std::byte* elements, const std::int64_t* indices, std::int64_t count, C* out) {
              const T* from = reinterpret_cast<const T*>(elements);
              for (std::int64_t i = 0; i < count; ++i) {
                if constexpr (std::is_arithmetic_v<T>) {
                  out[i] = static_cast<C>(from[indices[i]]);
                } else if constexpr (Contains(kNarrowIntegerTypes, kElementOf<T>)) {
                  out[i] = static_cast<C>(static_cast<std::int32_t>(from[indices[i]]));
                } else {
                  out[i] = static_cast<C>(static_cast<float>(from[indices[i]]));
                }
              }
            };
      });
}

}  // namespace poprt::kernels
