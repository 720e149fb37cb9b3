#include "runtime/kernels/packed/vector_avx512.hpp"
#include "runtime/kernels/recurrent/recurrent_cells_impl.hpp"

namespace poprt::kernels {

constexpr RecurrentCells kAvx512RecurrentCells = cells::kCells<Avx512>;

}  // namespace poprt::kernels
