#include "runtime/kernels/packed/thin_product_impl.hpp"
#include "runtime/kernels/packed/vector_avx512.hpp"

namespace poprt::kernels {

constexpr ThinProducts kAvx512ThinProducts = thin::kProducts<Avx512>;

}  // namespace poprt::kernels
