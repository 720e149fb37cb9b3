#include "runtime/kernels/rows/row_kernels.hpp"

#include "runtime/kernels/packed/tile_kernels.hpp"

namespace poprt::kernels {

const RowKernels& RowKernelsFor(const TileKernels& kernels) {
  return &kernels == Avx2TileKernels() ? Avx2RowKernels() : PortableRowKernels();
}

}  // namespace poprt::kernels
