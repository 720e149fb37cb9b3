#include "runtime/kernels/packed/vector_portable.hpp"
#include "runtime/kernels/rows/row_kernels.hpp"
#include "runtime/kernels/rows/row_kernels_impl.hpp"

namespace poprt::kernels {

const RowKernels& PortableRowKernels() { return rows::kKernels<Portable>; }

}  // namespace poprt::kernels
