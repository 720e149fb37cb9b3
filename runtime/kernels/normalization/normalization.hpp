#pragma once

#include <span>

#include "runtime/kernels/kernel.hpp"

/// The parts of the normalization family; normalization.cpp joins them.
namespace poprt::kernels {

std::span<const KernelDef> AxisNormalizationKernels();     ///< Softmax, LpNormalization, ...
std::span<const KernelDef> LayerNormalizationKernels();    ///< LayerNormalization, RMS...
std::span<const KernelDef> ChannelNormalizationKernels();  ///< BatchNormalization, Group..., LRN
std::span<const KernelDef> MeanVarianceKernels();          ///< MeanVarianceNormalization

}  // namespace poprt::kernels
