#include "runtime/kernels/blocked/conv_micro_kernels_impl.hpp"
#include "runtime/kernels/blocked/vector_portable.hpp"
#include "runtime/kernels/blocked/winograd_transforms_impl.hpp"
#include "runtime/kernels/fused/element_functions_impl.hpp"
#include "runtime/kernels/inner_loops_testing.hpp"
#include "runtime/kernels/packed/gemm_micro_kernels_impl.hpp"
#include "runtime/kernels/packed/gemv_kernels_impl.hpp"
#include "runtime/kernels/recurrent/recurrent_cells_impl.hpp"
#include "runtime/kernels/rows/row_kernels_impl.hpp"
#include "runtime/kernels/vector_pair_testing.hpp"

// Not a test but one more set of loops, which the tests of all tuned kernels run.
namespace poprt::kernels::testing {
namespace {

using Vector = VectorPair<tile::Portable>;

constexpr InnerLoops kLoops{.instruction_set = "sixteen lanes",
                            .gemm = tile::kGemmMicroKernels<Vector>,
                            .gemv = gemv::kKernels<Vector>,
                            .conv = tile::kConvMicroKernels<Vector>,
                            .winograd = winograd::kKernels<Vector>,
                            .rows = rows::kKernels<Vector>,
                            .wide_rows = &kPortableWideIntegerRows,
                            .element_functions = elements::kFunctions<Vector>,
                            .recurrent_cells = cells::kCells<Vector>};

}  // namespace

const InnerLoops& SixteenLaneLoops() { return kLoops; }

}  // namespace poprt::kernels::testing
