#pragma once

#include "runtime/kernels/inner_loops.hpp"
#include "runtime/kernels/kernel.hpp"

namespace poprt::kernels {

/// "blocked_winograd_conv2d": Y = act(conv(X, W) + bias + residual) on blocked images, for filters
/// of RequireWinogradFilter with stride 1, whose groups, where there are several, have whole blocks
/// of channels. The largest error, relative to the largest output, is below 1e-6 for tile 2 and
/// about 3e-6 for tile 4, with short weights of tile 2 1.1e-5. A NaN or an infinity in X may make
/// any output of the tiles that read it NaN. A matrix unit may compute the convolution directly,
/// see direct_winograd.hpp, with the rounding that matrix_unit.hpp states.
///
/// Inputs: X float32 [B, ceil(C / 16), H, W, 16]; W of PackedWinogradType or, for filters of up to
/// three taps a side or groups of whole blocks, scaled (scaled_panels.hpp); optionally bias
/// float32[16 * ceil(O / 16)]; optionally residual of Y's type. Y float32
/// [B, ceil(O / 16), H', W', 16]. Attributes: tile (2 or 4, outputs along a side of a tile that has
/// three taps or more), in_channels, out_channels, kernel_shape, group, those of
/// ResolveWindow and of EpilogueWithActivation.
BoundKernel BindWinogradConv2d(const KernelCall& call, const InnerLoops& loops);

}  // namespace poprt::kernels
