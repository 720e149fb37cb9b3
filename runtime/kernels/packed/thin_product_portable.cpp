#include "runtime/kernels/packed/thin_product.hpp"
#include "runtime/kernels/packed/thin_product_impl.hpp"
#include "runtime/kernels/packed/vector_portable.hpp"

namespace poprt::kernels {

const ThinProducts& PortableThinProducts() { return thin::kProducts<Portable>; }

}  // namespace poprt::kernels
