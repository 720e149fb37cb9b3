#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/kernels/recurrent/recurrent_activation.hpp"
#include "runtime/tensor/attributes.hpp"
#include "runtime/tensor/shape.hpp"

/// What RNN, GRU and LSTM are asked to do, read from attributes and operand types. The shape rules
/// of the compiler and the kernels share it.
namespace poprt::kernels {

enum class RecurrentKind : std::uint8_t { kRnn, kGru, kLstm };

/// Gates whose weights stand below each other in W and R: RNN [i], GRU [z r h], LSTM [i o f c].
constexpr std::int64_t GatesOf(RecurrentKind kind) {
  return kind == RecurrentKind::kRnn ? 1 : kind == RecurrentKind::kGru ? 3 : 4;
}
/// Activation functions of one direction: RNN f, GRU f g, LSTM f g h.
constexpr std::size_t ActivationsOf(RecurrentKind kind) {
  return kind == RecurrentKind::kRnn ? 1 : kind == RecurrentKind::kGru ? 2 : 3;
}

/// What an axis of X or Y but the last one counts.
enum class RecurrentAxis : std::uint8_t { kStep, kSequence, kDirection };

struct RecurrentOptions {
  std::int64_t directions = 1;
  bool first_reversed = false;  ///< the only direction runs from the end to the beginning
  bool batch_first = false;     ///< layout 1
  /// The axes of X and of Y but the last one, in their order.
  std::array<RecurrentAxis, 2> x_axes{};
  std::array<RecurrentAxis, 3> y_axes{};
  bool input_forget = false;
  bool linear_before_reset = false;
  /// Bound of the inputs of activations; infinity for none.
  float clip = 0;
  /// ActivationsOf(kind) for every direction.
  std::vector<RecurrentActivation> activations;
};

struct RecurrentShape {
  std::int64_t steps = 0;
  std::int64_t batch = 0;
  std::int64_t inputs = 0;
  std::int64_t hidden = 0;

  /// Types of Y, Y_h and Y_c.
  std::vector<TensorType> Outputs(const RecurrentOptions& options, ElementType element) const;
};

/// Of each RecurrentAxis: how many rows lie from one of its indices to the next.
using RecurrentStrides = std::array<std::int64_t, 3>;
RecurrentStrides RowStrides(std::span<const RecurrentAxis> axes, const RecurrentShape& shape,
                            std::int64_t directions);

/// Positions of the operands. RNN and GRU have those up to kInitialH.
struct RecurrentInput {
  static constexpr std::size_t kX = 0;
  static constexpr std::size_t kW = 1;
  static constexpr std::size_t kR = 2;
  static constexpr std::size_t kB = 3;
  static constexpr std::size_t kLengths = 4;
  static constexpr std::size_t kInitialH = 5;
  static constexpr std::size_t kInitialC = 6;
  static constexpr std::size_t kP = 7;
};

/// Attributes of ONNX: activations, activation_alpha, activation_beta, clip, direction, layout,
/// input_forget (LSTM), linear_before_reset (GRU). Attributes of ours: x_perm and y_perm, the
/// orders of axes by which a Transpose would make ONNX's X of what is given, and what is wanted of
/// ONNX's Y; the last axis stays. Throws KernelError for what ONNX does not allow and
/// std::invalid_argument for attributes of another type.
RecurrentOptions ReadRecurrentOptions(RecurrentKind kind, const Attributes& attributes);

/// Checks all operands against each other and the attribute hidden_size. W and R are
/// [directions, gates * hidden, depth], or packed by PackRecurrentWeights when attribute "packed"
/// is set; hidden_size is required then. Absent optional operands have an undefined type or are
/// missing. Throws KernelError.
RecurrentShape CheckRecurrentOperands(RecurrentKind kind, const RecurrentOptions& options,
                                      const Attributes& attributes,
                                      std::span<const TensorType> inputs);

}  // namespace poprt::kernels
