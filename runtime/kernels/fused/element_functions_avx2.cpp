#include "runtime/kernels/fused/element_functions_impl.hpp"
#include "runtime/kernels/packed/vector_avx2.hpp"

namespace poprt::kernels {
namespace {

struct Vector : Avx2 {
  static Register Sqrt(Register x) { return _mm256_sqrt_ps(x); }
};

}  // namespace

constexpr ElementFunctions kAvx2ElementFunctions = elements::kFunctions<Vector>;

}  // namespace poprt::kernels
