#include "runtime/kernels/packed/thin_product_impl.hpp"
#include "runtime/kernels/packed/vector_portable.hpp"

namespace poprt::kernels {

constexpr ThinProducts kPortableThinProducts = thin::kProducts<Portable>;

}  // namespace poprt::kernels
