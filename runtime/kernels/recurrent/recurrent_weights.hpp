#pragma once

#include <cstdint>

#include "runtime/tensor/tensor.hpp"

/// W and R of recurrent operators in the order in which the kernels multiply by them, panels of 16
/// columns, each depth x 16. Part of the container format.
namespace poprt::kernels {

/// Which panels the columns of one direction lie in: for every gate those of whole 16 units and,
/// of what remains of the hidden units, one with zeros behind the last unit. LSTM multiplies all
/// gates by the same, so that what remains of them can share panels, where that saves time: 100
/// units are 4 * 6 panels and one of 4 units of each gate.
struct RecurrentPanelLayout {
  RecurrentPanelLayout(std::int64_t gates, std::int64_t hidden);

  std::int64_t gates;
  std::int64_t of_gate;     ///< panels of each gate
  std::int64_t rest = 0;    ///< units of each gate in shared panels
  std::int64_t shared = 0;  ///< panels, behind those of all gates: rests one behind the other

  std::int64_t count() const { return gates * of_gate + shared; }
};

/// [directions * panels of the layout, depth, 16].
TensorType PackedRecurrentType(std::int64_t directions, const RecurrentPanelLayout& layout,
                               std::int64_t depth, ElementType stored);

/// Packs W or R, [directions, gates * hidden, depth], whose element type stays. Float32 and float16
/// only; throws KernelError for other types and for shapes that do not fit.
Tensor PackRecurrentWeights(const Tensor& weights, std::int64_t gates);

/// Packs into memory of the type computed with: one direction, from gates * hidden x depth.
template <typename C, typename T>
void PackRecurrentDirection(const T* from, std::int64_t gates, std::int64_t hidden,
                            std::int64_t depth, C* to);

}  // namespace poprt::kernels
