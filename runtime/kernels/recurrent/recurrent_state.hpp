#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "runtime/kernels/ceil_div.hpp"
#include "runtime/kernels/matrix_unit/started_unit.hpp"
#include "runtime/kernels/packed/row_tiles.hpp"
#include "runtime/kernels/parallel.hpp"
#include "runtime/kernels/recurrent/recurrent_inputs.hpp"
#include "runtime/kernels/recurrent/recurrent_product.hpp"

namespace poprt::kernels {

/// The state's part of the gates of a step: its rows are the hidden states of all sequences.
template <typename T>
class RecurrentState : protected RecurrentInputs<T> {
  using Inputs = RecurrentInputs<T>;
  using In = RecurrentInput;

 public:
  using C = typename Inputs::C;
  using Inputs::Inputs;

 protected:
  using Inputs::AddShared;
  using Inputs::args_;
  using Inputs::batch_;
  using Inputs::CopyPanel;
  using Inputs::directions_;
  using Inputs::Hidden;
  using Inputs::InParts;
  using Inputs::IsShared;
  using Inputs::Linear;
  using Inputs::memory_;
  using Inputs::plan_;
  using Inputs::Reset;
  using Inputs::SplitPanelOfR;
  using Inputs::SplitState;
  using Inputs::Tile;
  using Inputs::TileStride;
  using Inputs::WeightPanel;
  using Inputs::Weights;
  using typename Inputs::PanelRange;

  /// What R is multiplied by.
  struct State {
    RecurrentRows<C> rows;
    /// The same for the matrix unit, [tile of rows][step of the depth][part], if that multiplies.
    const std::uint16_t* tiles = nullptr;
    bool are_below = true;  ///< kStateLimit; other rows are zeros in `tiles`
  };

  /// GRU needs the whole reset state before it is multiplied, unless it is linear before the reset.
  int Phases() const {
    return plan_.kind == RecurrentKind::kGru && !plan_.options.linear_before_reset ? 2 : 1;
  }

  /// Splits R for the matrix unit, once for all steps, unless it has numbers that are too large.
  void SplitR() {
    if (!plan_.SplitsState()) return;
    std::array<std::atomic<bool>, 2> are_split{true, true};
    const std::int64_t panels = plan_.gates * plan_.layout.of_gate;
    ForRanges(args_.pool, directions_ * panels, kPanelsOfTask,
              [&](std::int64_t begin, std::int64_t end, int) {
                for (std::int64_t i = begin; i < end; ++i) {
                  const std::int64_t d = i / panels;
                  const std::int64_t gate = i % panels / plan_.layout.of_gate;
                  const std::int64_t panel = i % plan_.layout.of_gate;
                  if (!SplitPanel(d, gate * plan_.panels + panel)) {
                    are_split[static_cast<std::size_t>(d)] = false;
                  }
                }
              });
    for (std::size_t d = 0; d < r_is_split_.size(); ++d) r_is_split_[d] = are_split[d];
  }

  /// What R is multiplied by in a phase of a step, by a thread.
  State StateOf(std::int64_t d, std::int64_t step, int phase, int thread) const {
    State state{{phase == 1 ? Reset(d) : Hidden(d, step), plan_.padded, batch_}};
    if constexpr (std::is_same_v<C, float>) {
      if (r_is_split_[static_cast<std::size_t>(d)]) SplitRowsOf(d, thread, state);
      if (plan_.state_in_parts) ScaleRow(d, thread, state.rows);
    }
    return state;
  }

  /// Adds the state times R to the sums of all gates of a phase, of some panels of hidden units.
  void AddState(const PanelRange& panels, std::int64_t step, int phase, const State& state,
                StartedUnit& unit) const {
    if (plan_.options.linear_before_reset) FillLinear(panels);
    if (plan_.SplitsState()) return AddOnUnit(panels, step, phase, state, unit);
    if (plan_.kind == RecurrentKind::kLstm) return AddOfAllGates(panels, step, state.rows);
    AddOfEachGate(panels, step, phase, state.rows);
  }

 private:
  /// Panels that a thread splits at once, some 2 microseconds.
  static constexpr std::int64_t kPanelsOfTask = 16;

  /// Of what is multiplied on the matrix unit, so that no sum of products overflows, of up to
  /// kMostSplitNumbers: it could become NaN where it is infinite otherwise.
  static constexpr float kStateLimit = 0x1p40F;
  static constexpr float kWeightLimit = 0x1p60F;

  struct GateRange {
    std::int64_t first;
    std::int64_t last;
  };
  GateRange GatesOfPhase(int phase) const {
    if (Phases() == 1) return {0, plan_.gates};
    return phase == 0 ? GateRange{0, 2} : GateRange{2, 3};
  }

  bool IsLinear(std::int64_t gate) const { return plan_.options.linear_before_reset && gate == 2; }
  /// What R's product is added to, a tile for each panel, of a gate and panels from one on.
  RecurrentTiles<C> Sums(std::int64_t d, std::int64_t gate, std::int64_t panel,
                         std::int64_t step) const {
    if (IsLinear(gate)) return {Linear(d, panel), batch_ * kPanel};
    return {Tile(d, gate, panel, step), TileStride()};
  }

  /// What GRU's reset gate is multiplied by, when that is linear before, starts from its bias.
  void FillLinear(const PanelRange& panels) const {
    const std::int64_t d = panels.direction;
    for (std::int64_t panel = panels.first; panel < panels.last; ++panel) {
      const C* bias = memory_ + plan_.parts.recurrent_bias + d * plan_.padded + panel * kPanel;
      for (std::int64_t b = 0; b < batch_; ++b) CopyPanel(bias, Linear(d, panel) + b * kPanel);
    }
  }

  // ---- With registers -----------------------------------------------------------------------

  void ScaleRow(std::int64_t d, int thread, RecurrentRows<C>& rows) const {
    std::byte* const parts = InParts(d, thread);
    if (!plan_.state_in_parts->Scale(rows.data, rows.stride, parts)) return;
    rows.in_parts = &*plan_.state_in_parts;
    rows.parts = parts;
  }

  /// LSTM: of all gates of a panel at once.
  void AddOfAllGates(const PanelRange& range, std::int64_t step,
                     const RecurrentRows<C>& rows) const {
    const std::int64_t d = range.direction;
    const std::int64_t panels = plan_.panels;
    for (std::int64_t panel = range.first; panel < range.last; ++panel) {
      if (IsShared(panel)) {
        AddShared(d, In::kR, rows, step);
        continue;
      }
      AddProduct(*plan_.loops, rows, Weights(In::kR, d, panel, plan_.gates, /*of_gates=*/true),
                 WeightPanel(In::kR, d, (panel + 1) % panels),
                 {Tile(d, panel, step), panels * TileStride()});
    }
  }

  /// Of all panels of a gate at once; those of the next gate are multiplied by next.
  void AddOfEachGate(const PanelRange& range, std::int64_t step, int phase,
                     const RecurrentRows<C>& rows) const {
    const std::int64_t d = range.direction;
    const std::int64_t panels = plan_.panels;
    const GateRange gates = GatesOfPhase(phase);
    for (std::int64_t gate = gates.first; gate < gates.last; ++gate) {
      const std::int64_t next = gate + 1 < gates.last ? (gate + 1) * panels + range.first
                                                      : gates.first * panels + range.last % panels;
      AddProduct(*plan_.loops, rows,
                 Weights(In::kR, d, gate * panels + range.first, range.last - range.first,
                         /*of_gates=*/false),
                 WeightPanel(In::kR, d, next), Sums(d, gate, range.first, step));
    }
  }

  // ---- On the matrix unit -------------------------------------------------------------------

  /// Whether all of a panel is below kWeightLimit, or else it is not split.
  bool SplitPanel(std::int64_t d, std::int64_t number) const {
    const void* const panel = WeightPanel(In::kR, d, number);
    const std::int64_t depth = plan_.shape.hidden;
    if (!IsPanelBelowLimit(panel, depth * kPanel)) return false;
    const PanelNumbers numbers = plan_.half_weights ? PanelNumbers::kHalf : PanelNumbers::kFloat;
    plan_.matrix_unit->split_panel(numbers, panel, depth, SplitPanelOfR(d, number));
    return true;
  }
  bool IsPanelBelowLimit(const void* panel, std::int64_t count) const {
    if (!plan_.half_weights) {
      return plan_.matrix_unit->are_below(kWeightLimit, static_cast<const float*>(panel), count);
    }
    constexpr std::uint16_t kExponent = 0x7c00;
    const auto* const halves = static_cast<const std::uint16_t*>(panel);
    return std::all_of(halves, halves + count,
                       [](std::uint16_t bits) { return (bits & kExponent) != kExponent; });
  }

  void SplitRowsOf(std::int64_t d, int thread, State& state) const {
    const MatrixUnit& unit = *plan_.matrix_unit;
    const RecurrentRows<float>& rows = state.rows;
    std::uint16_t* const tiles = SplitState(d, thread);
    state.tiles = tiles;
    state.are_below = unit.are_below(kStateLimit, rows.data, rows.rows * rows.stride);
    for (std::int64_t row = 0; row < rows.rows; row += kSplitAtOnce) {
      const float* const from = rows.data + row * rows.stride;
      const std::int64_t count = std::min(kSplitAtOnce, rows.rows - row);
      RowMajorRows found(rows.stride);
      for (std::int64_t r = 0; r < count; ++r) {
        if (IsLeftOut(state, row + r)) found.LeaveOut(r);
      }
      std::uint16_t* to = tiles + row / kSplitRows * plan_.state_steps * kSplitStepNumbers +
                          row % kSplitRows * kSplitStep;
      for (std::int64_t k = 0; k < plan_.shape.hidden; k += kSplitStep, to += kSplitStepNumbers) {
        SplitRows some;
        found.Find(from + k, plan_.shape.hidden - k, some);
        some.rows = static_cast<std::int32_t>(count);
        unit.split_rows(some, to);
      }
    }
  }

  /// Whether a row is multiplied without the unit: each alone, so that nothing depends on how many
  /// there are.
  bool IsLeftOut(const State& state, std::int64_t row) const {
    if (state.tiles == nullptr) return true;
    const RecurrentRows<float>& rows = state.rows;
    return !state.are_below &&
           !plan_.matrix_unit->are_below(kStateLimit, rows.data + row * rows.stride, rows.stride);
  }

  void AddOnUnit(const PanelRange& range, std::int64_t step, int phase, const State& state,
                 StartedUnit& unit) const {
    if constexpr (std::is_same_v<C, float>) {
      const PanelRange own{range.direction, range.first,
                           std::min(range.last, plan_.layout.of_gate)};
      const GateRange gates = GatesOfPhase(phase);
      if (state.tiles != nullptr) MultiplyTiles(own, step, gates, state.tiles, unit);
      if (state.tiles == nullptr || !state.are_below) AddLeftOut(own, step, gates, state);
      if (own.last < range.last) AddShared(range.direction, In::kR, state.rows, step);
    }
  }

  /// As many panels at once as the unit takes, whatever gates they are of.
  void MultiplyTiles(const PanelRange& range, std::int64_t step, const GateRange& gates,
                     const std::uint16_t* tiles, StartedUnit& unit) const {
    const std::int64_t of_panel = gates.last - gates.first;
    const std::int64_t count = (range.last - range.first) * of_panel;
    for (std::int64_t row = 0; row < batch_; row += kSplitRows) {
      unit.Start(std::min(kSplitRows, batch_ - row));
      TileProduct product{.a = tiles + row / kSplitRows * plan_.state_steps * kSplitStepNumbers,
                          .steps = plan_.state_steps,
                          .panels = 0,
                          .b = {},
                          .sums = {}};
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t gate = gates.first + i % of_panel;
        const std::int64_t panel = range.first + i / of_panel;
        product.b[product.panels] = SplitPanelOfR(range.direction, gate * plan_.panels + panel);
        product.sums[product.panels] =
            Sums(range.direction, gate, panel, step).first + row * kPanel;
        if (++product.panels < kTileProductPanels && i + 1 < count) continue;
        plan_.matrix_unit->multiply_tile(product);
        product.panels = 0;
      }
    }
  }

  void AddLeftOut(const PanelRange& range, std::int64_t step, const GateRange& gates,
                  const State& state) const {
    const RecurrentRows<float>& rows = state.rows;
    const std::int64_t count = range.last - range.first;
    for (std::int64_t row = 0; row < rows.rows && count > 0; ++row) {
      if (!IsLeftOut(state, row)) continue;
      for (std::int64_t gate = gates.first; gate < gates.last; ++gate) {
        const std::int64_t number = gate * plan_.panels + range.first;
        const RecurrentTiles<C> sums = Sums(range.direction, gate, range.first, step);
        AddProduct(*plan_.loops, {rows.data + row * rows.stride, rows.stride, 1},
                   Weights(In::kR, range.direction, number, count, /*of_gates=*/false),
                   WeightPanel(In::kR, range.direction, number),
                   {sums.first + row * kPanel, sums.stride});
      }
    }
  }

  std::array<bool, 2> r_is_split_{};  ///< of each direction
};

}  // namespace poprt::kernels
