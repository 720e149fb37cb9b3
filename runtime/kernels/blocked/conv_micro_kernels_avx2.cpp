#include "runtime/kernels/blocked/conv_micro_kernels_impl.hpp"
#include "runtime/kernels/blocked/vector_avx2.hpp"

namespace poprt::kernels {

constexpr ConvMicroKernels kAvx2ConvMicroKernels = tile::kConvMicroKernels<tile::Avx2>;

}  // namespace poprt::kernels
