#include "runtime/kernels/fused/element_functions_impl.hpp"
#include "runtime/kernels/packed/vector_avx512.hpp"

namespace poprt::kernels {
namespace {

struct Vector : Avx512 {
  static Register Sqrt(Register x) { return _mm512_sqrt_ps(x); }
};

}  // namespace

constexpr ElementFunctions kAvx512ElementFunctions = elements::kFunctions<Vector>;

}  // namespace poprt::kernels
