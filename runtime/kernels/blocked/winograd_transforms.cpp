#include "runtime/kernels/blocked/winograd_transforms.hpp"

namespace poprt::kernels {

const WinogradTransforms& WinogradTransformsFor(const TileKernels& kernels, std::int64_t m) {
  return &kernels == Avx2TileKernels() ? Avx2WinogradTransforms(m) : PortableWinogradTransforms(m);
}

}  // namespace poprt::kernels
