#pragma once

#include "runtime/kernels/kernel.hpp"

namespace poprt::kernels {

BoundKernel BindDft(const KernelCall& call);   ///< attributes as ResolveDft
BoundKernel BindStft(const KernelCall& call);  ///< signal, window; attributes as ResolveStft

BoundKernel BindHannWindow(const KernelCall& call);  ///< no inputs; attribute periodic
BoundKernel BindHammingWindow(const KernelCall& call);
BoundKernel BindBlackmanWindow(const KernelCall& call);

/// No inputs; attributes num_mel_bins, dft_length, sample_rate, lower_edge_hertz,
/// upper_edge_hertz, each one number.
BoundKernel BindMelWeightMatrix(const KernelCall& call);

}  // namespace poprt::kernels
