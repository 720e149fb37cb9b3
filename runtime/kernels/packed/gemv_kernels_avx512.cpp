#include "runtime/kernels/packed/gemv_kernels_impl.hpp"
#include "runtime/kernels/packed/vector_avx512.hpp"

namespace poprt::kernels {

constexpr GemvKernels kAvx512GemvKernels = gemv::kKernels<Avx512>;

}  // namespace poprt::kernels
