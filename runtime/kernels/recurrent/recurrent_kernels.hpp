#pragma once

#include "runtime/kernels/inner_loops.hpp"
#include "runtime/kernels/kernel.hpp"
#include "runtime/kernels/recurrent/recurrent_options.hpp"

namespace poprt::kernels {

/// ONNX's RNN, GRU and LSTM, with the inner loops given so that tests can compare processors.
/// Attribute packed: W and R come as PackRecurrentWeights makes them. Of float32 R may be scaled
/// (scaled_panels.hpp) where there is one sequence, and W where there is one step of it.
BoundKernel BindRecurrent(RecurrentKind kind, const KernelCall& call, const InnerLoops& loops);

}  // namespace poprt::kernels
