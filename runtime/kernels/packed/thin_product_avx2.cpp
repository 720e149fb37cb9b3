#include "runtime/kernels/packed/thin_product.hpp"

#if defined(__x86_64__)

#include "runtime/kernels/packed/thin_product_impl.hpp"
#include "runtime/kernels/packed/vector_avx2.hpp"

namespace poprt::kernels {

const ThinProducts& Avx2ThinProducts() { return thin::kProducts<Avx2>; }

}  // namespace poprt::kernels

#else

namespace poprt::kernels {

const ThinProducts& Avx2ThinProducts() { return PortableThinProducts(); }

}  // namespace poprt::kernels

#endif
