#pragma once

#include <optional>
#include <vector>

#include "runtime/tensor/tensor.hpp"

namespace poprt::passes {

/// Weights that are multiples by int8 of a scale for each channel of the result, as
/// DequantizeLinear makes them.
struct ByteWeights {
  Tensor integers;  ///< of the weights' shape
  std::vector<float> scales;
};

/// Of weights [depth, channels], or [channels, ...] if `channels_first`. Channels of zeros have the
/// scale `of_zeros`. Nothing for others, and for those not of float32.
std::optional<ByteWeights> ByteWeightsOf(const Tensor& weights, bool channels_first,
                                         float of_zeros);

}  // namespace poprt::passes
