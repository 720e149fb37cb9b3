#include "runtime/kernels/blocked/conv_micro_kernels_impl.hpp"
#include "runtime/kernels/blocked/vector_portable.hpp"

namespace poprt::kernels {

constexpr ConvMicroKernels kPortableConvMicroKernels = tile::kConvMicroKernels<tile::Portable>;

}  // namespace poprt::kernels
