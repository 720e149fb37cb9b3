#include "runtime/kernels/fused/element_functions_impl.hpp"
#include "runtime/kernels/packed/vector_avx512.hpp"

namespace poprt::kernels {

constexpr ElementFunctions kAvx512ElementFunctions = elements::kFunctions<Avx512>;

}  // namespace poprt::kernels
