#include "runtime/kernels/fused/element_functions_impl.hpp"
#include "runtime/kernels/packed/vector_avx2.hpp"

namespace poprt::kernels {

constexpr ElementFunctions kAvx2ElementFunctions = elements::kFunctions<Avx2>;

}  // namespace poprt::kernels
