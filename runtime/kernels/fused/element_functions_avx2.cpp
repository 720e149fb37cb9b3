#include "runtime/kernels/fused/element_functions.hpp"

#if defined(__x86_64__)

#include "runtime/kernels/fused/element_functions_impl.hpp"
#include "runtime/kernels/packed/vector_avx2.hpp"

namespace poprt::kernels {
namespace {

struct Vector : Avx2 {
  static Register Sqrt(Register x) { return _mm256_sqrt_ps(x); }
};

}  // namespace

const ElementFunctions& Avx2ElementFunctions() { return elements::kFunctions<Vector>; }

}  // namespace poprt::kernels

#else

namespace poprt::kernels {

const ElementFunctions& Avx2ElementFunctions() { return PortableElementFunctions(); }

}  // namespace poprt::kernels

#endif
