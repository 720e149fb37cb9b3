#include "runtime/kernels/packed/vector_avx2.hpp"
#include "runtime/kernels/recurrent/recurrent_cells_impl.hpp"

namespace poprt::kernels {

constexpr RecurrentCells kAvx2RecurrentCells = cells::kCells<Avx2>;

}  // namespace poprt::kernels
