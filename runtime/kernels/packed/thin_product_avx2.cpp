#include "runtime/kernels/packed/thin_product_impl.hpp"
#include "runtime/kernels/packed/vector_avx2.hpp"

namespace poprt::kernels {

constexpr ThinProducts kAvx2ThinProducts = thin::kProducts<Avx2>;

}  // namespace poprt::kernels
