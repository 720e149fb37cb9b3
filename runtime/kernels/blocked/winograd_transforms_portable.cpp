#include "runtime/kernels/blocked/winograd_transforms_impl.hpp"
#include "runtime/kernels/packed/vector_portable.hpp"

namespace poprt::kernels {

constexpr WinogradTransforms kPortableWinograd2 = winograd::kTransforms<Portable, 2>;
constexpr WinogradTransforms kPortableWinograd4 = winograd::kTransforms<Portable, 4>;

}  // namespace poprt::kernels
