#include "runtime/kernels/packed/vector_avx2.hpp"
#include "runtime/kernels/rows/row_kernels_impl.hpp"

namespace poprt::kernels {

constexpr RowKernels kAvx2RowKernels = rows::kKernels<Avx2>;

}  // namespace poprt::kernels
