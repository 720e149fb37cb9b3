#include <cstdint>

#include "runtime/kernels/blocked/winograd_transforms.hpp"

#if defined(__x86_64__)

#include "runtime/kernels/blocked/winograd_transforms_impl.hpp"
#include "runtime/kernels/packed/vector_avx2.hpp"

namespace poprt::kernels {

const WinogradTransforms& Avx2WinogradTransforms(std::int64_t m) {
  return m == 2 ? winograd::kTransforms<Avx2, 2> : winograd::kTransforms<Avx2, 4>;
}

}  // namespace poprt::kernels

#else

namespace poprt::kernels {

const WinogradTransforms& Avx2WinogradTransforms(std::int64_t m) {
  return PortableWinogradTransforms(m);
}

}  // namespace poprt::kernels

#endif
