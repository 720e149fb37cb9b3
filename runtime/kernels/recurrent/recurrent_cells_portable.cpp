#include "runtime/kernels/packed/vector_portable.hpp"
#include "runtime/kernels/recurrent/recurrent_cells_impl.hpp"

namespace poprt::kernels {

constexpr RecurrentCells kPortableRecurrentCells = cells::kCells<Portable>;

}  // namespace poprt::kernels
