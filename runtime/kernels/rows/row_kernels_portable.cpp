#include "runtime/kernels/packed/vector_portable.hpp"
#include "runtime/kernels/rows/row_kernels_impl.hpp"

namespace poprt::kernels {

constexpr RowKernels kPortableRowKernels = rows::kKernels<Portable>;

}  // namespace poprt::kernels
