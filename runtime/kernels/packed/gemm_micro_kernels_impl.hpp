#pragma once

#include <cstdint>

#include "runtime/kernels/packed/depthwise_span_impl.hpp"
#include "runtime/kernels/packed/epilogue_impl.hpp"
#include "runtime/kernels/packed/gather_impl.hpp"
#include "runtime/kernels/packed/gemm_micro_kernels.hpp"
#include "runtime/kernels/packed/micro_kernel_impl.hpp"
#include "runtime/kernels/packed/widen_impl.hpp"

// GemmMicroKernels for a vector type V, see vector_type.hpp.
namespace poprt::kernels::tile {

template <class V>
inline constexpr GemmMicroKernels kGemmMicroKernels = {
    .panels = V::kPanels,
    .rows = V::kRows,
    .row_major_f32 = RowMajor<V, float>,
    .row_major_f16 = RowMajor<V, std::uint16_t>,
    .interleaved = Interleaved<V, kVectors<V>>,
    .interleaved_narrow = Interleaved<V, 1>,
    .finish = Finish<V>,
    .gather_f32 = Gather<V, float>,
    .gather_f16 = Gather<V, std::uint16_t>,
    .gather_transposed_f32 = GatherTransposed<typename V::Eight, float>,
    .gather_transposed_f16 = GatherTransposed<typename V::Eight, std::uint16_t>,
    .widen_scaled = WidenScaled<V>,
    .widen = Widen<V>,
    .depthwise = Depthwise<V>};

}  // namespace poprt::kernels::tile
