#include <cstdint>

#include "runtime/kernels/blocked/winograd_transforms.hpp"
#include "runtime/kernels/blocked/winograd_transforms_impl.hpp"
#include "runtime/kernels/packed/vector_portable.hpp"

namespace poprt::kernels {

const WinogradTransforms& PortableWinogradTransforms(std::int64_t m) {
  return m == 2 ? winograd::kTransforms<Portable, 2> : winograd::kTransforms<Portable, 4>;
}

}  // namespace poprt::kernels
