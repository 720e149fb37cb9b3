#include "runtime/kernels/packed/gemm_micro_kernels_impl.hpp"
#include "runtime/kernels/packed/vector_portable.hpp"

namespace poprt::kernels {

constexpr GemmMicroKernels kPortableGemmMicroKernels = tile::kGemmMicroKernels<Portable>;

}  // namespace poprt::kernels
