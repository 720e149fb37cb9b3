#include "runtime/kernels/packed/gemv_kernels_impl.hpp"
#include "runtime/kernels/packed/vector_avx2.hpp"

namespace poprt::kernels {

constexpr GemvKernels kAvx2GemvKernels = gemv::kKernels<Avx2>;

}  // namespace poprt::kernels
