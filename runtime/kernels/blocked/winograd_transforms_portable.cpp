#include "runtime/kernels/blocked/winograd_transforms_impl.hpp"
#include "runtime/kernels/packed/vector_portable.hpp"

namespace poprt::kernels {

constexpr WinogradTiles kPortableWinograd = winograd::kTiles<Portable>;

}  // namespace poprt::kernels
