#include "runtime/kernels/packed/vector_avx512.hpp"
#include "runtime/kernels/rows/row_kernels_impl.hpp"

namespace poprt::kernels {

constexpr RowKernels kAvx512RowKernels = rows::kKernels<Avx512>;

}  // namespace poprt::kernels
