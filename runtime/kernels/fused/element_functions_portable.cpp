#include "runtime/kernels/fused/element_functions_impl.hpp"
#include "runtime/kernels/packed/vector_portable.hpp"

namespace poprt::kernels {

constexpr ElementFunctions kPortableElementFunctions = elements::kFunctions<Portable>;

}  // namespace poprt::kernels
