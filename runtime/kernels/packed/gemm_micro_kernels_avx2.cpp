#include "runtime/kernels/packed/gemm_micro_kernels_impl.hpp"
#include "runtime/kernels/packed/vector_avx2.hpp"

namespace poprt::kernels {

constexpr GemmMicroKernels kAvx2GemmMicroKernels = tile::kGemmMicroKernels<Avx2>;

}  // namespace poprt::kernels
