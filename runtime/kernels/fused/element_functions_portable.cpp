#include <cmath>

#include "runtime/kernels/fused/element_functions_impl.hpp"
#include "runtime/kernels/packed/vector_portable.hpp"

namespace poprt::kernels {
namespace {

struct Vector : Portable {
  static Register Sqrt(const Register& x) {
    return Each([&](int i) { return std::sqrt(x.lane[i]); });
  }
};

}  // namespace

constexpr ElementFunctions kPortableElementFunctions = elements::kFunctions<Vector>;

}  // namespace poprt::kernels
