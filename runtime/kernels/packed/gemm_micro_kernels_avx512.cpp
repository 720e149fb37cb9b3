#include "runtime/kernels/packed/gemm_micro_kernels_impl.hpp"
#include "runtime/kernels/packed/vector_avx512.hpp"

namespace poprt::kernels {

constexpr GemmMicroKernels kAvx512GemmMicroKernels = tile::kGemmMicroKernels<Avx512>;

}  // namespace poprt::kernels
