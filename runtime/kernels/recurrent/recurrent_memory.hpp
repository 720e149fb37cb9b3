#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/kernels/ceil_div.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/matrix_unit/matrix_unit.hpp"
#include "runtime/kernels/packed/row_tiles.hpp"
#include "runtime/kernels/packed/scaled_panels.hpp"
#include "runtime/kernels/recurrent/recurrent_plan.hpp"
#include "runtime/kernels/recurrent/recurrent_product.hpp"

namespace poprt::kernels {

/// Where the numbers of one run of a recurrent kernel stand: in operands of type T and in scratch
/// memory.
template <typename T>
class RecurrentMemory {
 public:
  using C = Accumulator<T>;

  /// Of `count` sequences of the batch, from `first` on.
  RecurrentMemory(const RecurrentPlan& plan, const KernelArguments& args, std::int64_t first,
                  std::int64_t count)
      : plan_(plan),
        args_(args),
        memory_(reinterpret_cast<C*>(args.scratch)),
        lengths_(reinterpret_cast<std::int64_t*>(args.scratch + plan.lengths_at)),
        first_sequence_(first),
        batch_(count),
        directions_(plan.options.directions) {}

 protected:
  using In = RecurrentInput;

  // ---- Operands ---------------------------------------------------------------------------

  const T* Input(std::size_t i) const { return i < args_.inputs.size() ? args_.in<T>(i) : nullptr; }
  T* Output(std::size_t i) const { return i < args_.outputs.size() ? args_.out<T>(i) : nullptr; }
  std::int64_t InputRow(std::int64_t time, std::int64_t b) const {
    const auto [of_step, of_sequence, of_direction] = plan_.x_strides;
    return time * of_step + (first_sequence_ + b) * of_sequence;
  }
  std::int64_t OutputRow(std::int64_t d, std::int64_t time, std::int64_t b) const {
    const auto [of_step, of_sequence, of_direction] = plan_.y_strides;
    return time * of_step + (first_sequence_ + b) * of_sequence + d * of_direction;
  }
  std::int64_t StateRow(std::int64_t d, std::int64_t b) const {
    return plan_.options.batch_first ? (first_sequence_ + b) * directions_ + d
                                     : d * plan_.shape.batch + first_sequence_ + b;
  }
  std::int64_t Time(std::int64_t d, std::int64_t step, std::int64_t b) const {
    const bool reversed = d == 1 || plan_.options.first_reversed;
    return reversed ? lengths_[b] - 1 - step : step;
  }
  const RecurrentActivation& ActivationOf(std::int64_t d, std::size_t which) const {
    const std::size_t each = ActivationsOf(plan_.kind);
    return plan_.options.activations[static_cast<std::size_t>(d) * each + which];
  }

  // ---- Scratch memory ---------------------------------------------------------------------

  // Panels of a direction are numbered through all gates: panel p of gate g is g * panels + p.

  C* Tile(std::int64_t d, std::int64_t number, std::int64_t step) const {
    return memory_ + plan_.parts.tiles + (d * plan_.gates * plan_.panels + number) * TileStride() +
           step % plan_.chunk * batch_ * kPanel;
  }
  C* Tile(std::int64_t d, std::int64_t gate, std::int64_t panel, std::int64_t step) const {
    return Tile(d, gate * plan_.panels + panel, step);
  }
  /// From the tile of a number to that of the next.
  std::int64_t TileStride() const { return plan_.chunk * batch_ * kPanel; }
  /// State before an even step stands where that behind an odd one stands.
  C* Hidden(std::int64_t d, std::int64_t step) const {
    return memory_ + plan_.parts.hidden + (d * 2 + step % 2) * batch_ * plan_.padded;
  }
  C* Cell(std::int64_t d) const { return memory_ + plan_.parts.cell + d * batch_ * plan_.padded; }
  C* Reset(std::int64_t d) const { return memory_ + plan_.parts.reset + d * batch_ * plan_.padded; }
  /// Of a thread, where state_in_parts is.
  std::byte* InParts(std::int64_t d, int thread) const {
    return reinterpret_cast<std::byte*>(memory_ + plan_.parts.in_parts +
                                        (thread * directions_ + d) *
                                            plan_.state_in_parts->Elements());
  }
  /// Tiles of the matrix unit, where it multiplies by R: of a panel of R, and of the state, of a
  /// thread.
  std::uint16_t* SplitPanelOfR(std::int64_t d, std::int64_t number) const {
    return SplitTiles(plan_.parts.split_r, d * plan_.gates * plan_.panels + number);
  }
  std::uint16_t* SplitState(std::int64_t d, int thread) const {
    return SplitTiles(plan_.parts.split_state,
                      (thread * directions_ + d) * CeilDiv(batch_, kSplitRows));
  }
  const C* Bias(std::int64_t d, std::int64_t number) const {
    return memory_ + plan_.parts.bias + d * plan_.gates * plan_.padded + number * kPanel;
  }
  const C* Peephole(std::int64_t d, std::int64_t which, std::int64_t panel) const {
    return memory_ + plan_.parts.peepholes + (d * 3 + which) * plan_.padded + panel * kPanel;
  }
  /// Extent of what W or R is multiplied by.
  std::int64_t Depth(std::size_t input) const {
    return input == In::kW ? plan_.shape.inputs : plan_.shape.hidden;
  }
  bool IsScaled(std::size_t input) const {
    return input == In::kR ? plan_.state_in_parts.has_value() : plan_.scaled_inputs;
  }
  /// Numbers of a panel of W or R, or words of scaled panels, which are as large.
  std::int64_t PanelNumbers(std::size_t input) const {
    const std::int64_t depth = Depth(input);
    return (IsScaled(input) ? ScaledLines(depth) : depth) * kPanel;
  }
  /// Whether the last units of all gates lie in shared panels, and this panel is of those units.
  bool IsShared(std::int64_t panel) const { return panel >= plan_.layout.of_gate; }
  /// The panel of a number, the first of the shared ones if its units lie in those.
  const void* WeightPanel(std::size_t input, std::int64_t d, std::int64_t number) const {
    const RecurrentPanelLayout& layout = plan_.layout;
    const std::int64_t panel = number % plan_.panels;
    const std::int64_t gate = IsShared(panel) ? layout.gates : number / plan_.panels;
    const std::int64_t at = gate * layout.of_gate + (IsShared(panel) ? 0 : panel);
    const std::int64_t offset = (d * layout.count() + at) * PanelNumbers(input);
    if (plan_.packed) return args_.in<T>(input) + offset;
    return memory_ + (input == In::kW ? plan_.parts.w : plan_.parts.r) + offset;
  }
  /// `count` panels from number `first` on, of one gate or of the same units of several.
  RecurrentPanels Weights(std::size_t input, std::int64_t d, std::int64_t first, std::int64_t count,
                          bool of_gates) const {
    return PanelsFrom(input, WeightPanel(input, d, first), count,
                      of_gates ? plan_.layout.of_gate : 1);
  }
  RecurrentPanels SharedWeights(std::size_t input, std::int64_t d) const {
    return PanelsFrom(input, WeightPanel(input, d, plan_.layout.of_gate), plan_.layout.shared, 1);
  }
  /// Sums of the shared panels, of some rows.
  C* SharedTiles(std::int64_t d) const {
    return memory_ + plan_.parts.shared + d * plan_.layout.shared * TileStride();
  }

  RecurrentPanels PanelsFrom(std::size_t input, const void* first, std::int64_t count,
                             std::int64_t step) const {
    return {.data = first,
            .depth = Depth(input),
            .stored = IsScaled(input)      ? ElementType::kInt32
                      : plan_.half_weights ? ElementType::kFloat16
                                           : kElementOf<C>,
            .stride = step * PanelNumbers(input),
            .count = static_cast<int>(count)};
  }

  /// Of a number of rows or panels of R's depth.
  std::uint16_t* SplitTiles(std::int64_t part, std::int64_t number) const {
    return reinterpret_cast<std::uint16_t*>(memory_ + part) +
           number * plan_.state_steps * kSplitStepNumbers;
  }

  const RecurrentPlan& plan_;
  const KernelArguments& args_;
  C* memory_;
  std::int64_t* lengths_;        ///< steps of every sequence
  std::int64_t first_sequence_;  ///< sequence of the batch
  std::int64_t batch_;           ///< sequences from it on
  std::int64_t directions_;
};

}  // namespace poprt::kernels
