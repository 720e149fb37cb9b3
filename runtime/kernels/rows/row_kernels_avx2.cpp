#include "runtime/kernels/rows/row_kernels.hpp"

#if defined(__x86_64__)

#include "runtime/kernels/packed/vector_avx2.hpp"
#include "runtime/kernels/rows/row_kernels_impl.hpp"

namespace poprt::kernels {

const RowKernels& Avx2RowKernels() { return rows::kKernels<Avx2>; }

}  // namespace poprt::kernels

#else

namespace poprt::kernels {

const RowKernels& Avx2RowKernels() { return PortableRowKernels(); }

}  // namespace poprt::kernels

#endif
