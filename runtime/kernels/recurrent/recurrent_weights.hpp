#pragma once

#include <cstdint>

#include "runtime/tensor/tensor.hpp"

/// W and R of recurrent operators in the order in which the kernels multiply by them: for every
/// direction and gate ceil(hidden / 16) panels of 16 units, each depth x 16, zeros behind the last
/// unit. Part of the container format.
namespace poprt::kernels {

/// [matrices * ceil(hidden / 16), depth, 16], where matrices are directions times gates.
TensorType PackedRecurrentType(std::int64_t matrices, std::int64_t hidden, std::int64_t depth,
                               ElementType stored);

/// Packs W or R, [directions, gates * hidden, depth], whose element type stays. Float32 and float16
/// only; throws KernelError for other types and for shapes that do not fit.
Tensor PackRecurrentWeights(const Tensor& weights, std::int64_t gates);

/// Packs into memory of the type computed with: one gate of one direction, from hidden x depth.
template <typename C, typename T>
void PackRecurrentGate(const T* from, std::int64_t hidden, std::int64_t depth, C* to);

}  // namespace poprt::kernels
