#include "runtime/kernels/blocked/conv_micro_kernels_impl.hpp"
#include "runtime/kernels/blocked/vector_avx512.hpp"

namespace poprt::kernels {

constexpr ConvMicroKernels kAvx512ConvMicroKernels = tile::kConvMicroKernels<tile::Avx512>;

}  // namespace poprt::kernels
