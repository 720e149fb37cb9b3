#include "runtime/kernels/packed/gemv_kernels_impl.hpp"
#include "runtime/kernels/packed/vector_portable.hpp"

namespace poprt::kernels {

constexpr GemvKernels kPortableGemvKernels = gemv::kKernels<Portable>;

}  // namespace poprt::kernels
