#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "runtime/kernels/packed/row_tiles.hpp"
#include "runtime/kernels/parallel.hpp"
#include "runtime/kernels/recurrent/recurrent_memory.hpp"

namespace poprt::kernels {

/// The end of a step: what hidden units make of the sums of their gates, a panel of units at a
/// time.
template <typename T>
class RecurrentUnits : protected RecurrentMemory<T> {
  using Memory = RecurrentMemory<T>;
  using In = RecurrentInput;

 public:
  using C = typename Memory::C;
  using Memory::Memory;

 protected:
  using Memory::ActivationOf;
  using Memory::batch_;
  using Memory::Cell;
  using Memory::Hidden;
  using Memory::Input;
  using Memory::lengths_;
  using Memory::Output;
  using Memory::OutputRow;
  using Memory::Peephole;
  using Memory::plan_;
  using Memory::Reset;
  using Memory::Tile;
  using Memory::TileStride;
  using Memory::Time;

  /// `phase`: GRU's candidate is a second one, unless it is linear before the reset.
  void FinishPanel(std::int64_t d, std::int64_t step, std::int64_t panel, int phase) const {
    switch (plan_.kind) {
      case RecurrentKind::kRnn:
        return FinishRnn(d, step, panel);
      case RecurrentKind::kGru:
        if (plan_.options.linear_before_reset) return FinishLinearGru(d, step, panel);
        return phase == 0 ? FinishGruGates(d, step, panel) : FinishGru(d, step, panel);
      case RecurrentKind::kLstm:
        return FinishLstm(d, step, panel);
    }
  }

  /// Whether FinishLstmPanels ends the step of an LSTM.
  bool HasLstmCells() const {
    return std::is_same_v<C, float> && plan_.kind == RecurrentKind::kLstm && plan_.cells != nullptr;
  }

  /// FinishPanel for panels [first, last), with the functions of RecurrentCells.
  void FinishLstmPanels(std::int64_t d, std::int64_t step, std::int64_t first,
                        std::int64_t last) const {
    if constexpr (std::is_same_v<C, float>) {
      const std::int64_t units = std::min(last * kPanel, plan_.shape.hidden) - first * kPanel;
      T* const y = Output(0);
      const bool has_peepholes = Input(In::kP) != nullptr;
      const auto peephole = [&](std::int64_t which) -> const float* {
        return has_peepholes ? Peephole(d, which, first) : nullptr;
      };
      for (std::int64_t b = 0; b < batch_; ++b) {
        const std::int64_t at = b * plan_.padded + first * kPanel;
        C* const hidden = Hidden(d, step + 1) + at;
        if (step >= lengths_[b]) {
          std::copy_n(Hidden(d, step) + at, (last - first) * kPanel, hidden);
          continue;
        }
        const auto sums = [&](std::int64_t gate) {
          return Tile(d, gate, first, step) + b * kPanel;
        };
        plan_.cells->lstm({.in = sums(0),
                           .out = sums(1),
                           .forget = sums(2),
                           .next = sums(3),
                           .stride = TileStride(),
                           .count = last - first,
                           .cell = Cell(d) + at,
                           .hidden = hidden,
                           .cell_to_in = peephole(0),
                           .cell_to_out = peephole(1),
                           .cell_to_forget = peephole(2),
                           .limit = plan_.options.clip});
        if (y == nullptr) continue;
        T* const to = y + OutputRow(d, Time(d, step, b), b) * plan_.shape.hidden + first * kPanel;
        POPRT_INDEPENDENT_LOOP
        for (std::int64_t c = 0; c < units; ++c) to[c] = static_cast<T>(hidden[c]);
      }
    }
  }

  /// GRU: what the reset gate is multiplied by, a tile of one step for each panel.
  C* Linear(std::int64_t d, std::int64_t panel) const { return Reset(d) + panel * batch_ * kPanel; }

  /// The elements of a row of a panel, so few that a call would take longer.
  template <typename To>
  static void CopyPanel(const C* from, To* to) {
    POPRT_INDEPENDENT_LOOP
    for (std::int64_t c = 0; c < kPanel; ++c) to[c] = static_cast<To>(from[c]);
  }

 private:
  void Activate(std::int64_t d, std::size_t which, C* tile) const {
    const RecurrentActivation& activation = ActivationOf(d, which);
    if constexpr (std::is_same_v<C, float>) {
      if (ActivateTuned(activation, tile)) return;
    }
    kernels::Activate(activation, plan_.options.clip, tile, batch_ * kPanel);
  }

  /// With the functions of the processor, as far as it has them. Constants are folded with the
  /// portable ones, which are left alone: results are the same everywhere.
  bool ActivateTuned(const RecurrentActivation& activation, float* tile) const {
    using Function = RecurrentActivation::Function;
    const ElementLoop loop = activation.function == Function::kSigmoid ? plan_.sigmoid
                             : activation.function == Function::kTanh  ? plan_.tanh
                                                                       : nullptr;
    if (loop == nullptr) return false;
    const std::int64_t count = batch_ * kPanel;
    Limit(plan_.options.clip, tile, count);
    loop(tile, nullptr, tile, count);
    return true;
  }

  /// f(index within a tile, index within rows of padded units) for every element of a panel.
  template <typename F>
  void ForTile(std::int64_t panel, const F& f) const {
    for (std::int64_t b = 0; b < batch_; ++b) {
      POPRT_INDEPENDENT_LOOP
      for (std::int64_t c = 0; c < kPanel; ++c) {
        f(b * kPanel + c, b * plan_.padded + panel * kPanel + c);
      }
    }
  }

  /// Ends a step: the tile is the new hidden state of the sequences that have not ended.
  void StoreHidden(std::int64_t d, std::int64_t step, std::int64_t panel, const C* tile) const {
    const C* before = Hidden(d, step);
    C* after = Hidden(d, step + 1);
    T* y = Output(0);
    const std::int64_t units = std::min(kPanel, plan_.shape.hidden - panel * kPanel);
    for (std::int64_t b = 0; b < batch_; ++b) {
      const bool active = step < lengths_[b];
      const std::int64_t at = b * plan_.padded + panel * kPanel;
      CopyPanel(active ? tile + b * kPanel : before + at, after + at);
      if (!active || y == nullptr) continue;
      T* to = y + OutputRow(d, Time(d, step, b), b) * plan_.shape.hidden + panel * kPanel;
      if (units == kPanel) {
        CopyPanel(tile + b * kPanel, to);
      } else {
        for (std::int64_t c = 0; c < units; ++c) to[c] = static_cast<T>(tile[b * kPanel + c]);
      }
    }
  }

  void FinishRnn(std::int64_t d, std::int64_t step, std::int64_t panel) const {
    C* tile = Tile(d, 0, panel, step);
    Activate(d, 0, tile);
    StoreHidden(d, step, panel, tile);
  }

  void FinishLstm(std::int64_t d, std::int64_t step, std::int64_t panel) const {
    C* const in = Tile(d, 0, panel, step);
    C* const out = Tile(d, 1, panel, step);
    C* const forget = Tile(d, 2, panel, step);
    C* const next = Tile(d, 3, panel, step);
    C* const cell = Cell(d);
    const bool has_peepholes = Input(In::kP) != nullptr;
    if (has_peepholes) {
      const C* const to_in = Peephole(d, 0, panel);
      const C* const to_forget = Peephole(d, 2, panel);
      ForTile(panel, [=](std::int64_t i, std::int64_t at) {
        in[i] += to_in[i % kPanel] * cell[at];
        forget[i] += to_forget[i % kPanel] * cell[at];
      });
    }
    Activate(d, 0, in);
    if (plan_.options.input_forget) {
      ForTile(panel, [=](std::int64_t i, std::int64_t) { forget[i] = C(1) - in[i]; });
    } else {
      Activate(d, 0, forget);
    }
    Activate(d, 1, next);
    ForTile(panel, [=](std::int64_t i, std::int64_t at) {
      next[i] = forget[i] * cell[at] + in[i] * next[i];
    });
    if (has_peepholes) {
      const C* const to_out = Peephole(d, 1, panel);
      ForTile(panel, [=](std::int64_t i, std::int64_t) { out[i] += to_out[i % kPanel] * next[i]; });
    }
    Activate(d, 0, out);
    std::copy_n(next, batch_ * kPanel, in);
    Activate(d, 2, in);
    ForTile(panel, [=](std::int64_t i, std::int64_t) { out[i] *= in[i]; });
    StoreLstm(d, step, panel, next, out);
  }

  void StoreLstm(std::int64_t d, std::int64_t step, std::int64_t panel, const C* cell,
                 const C* hidden) const {
    for (std::int64_t b = 0; b < batch_; ++b) {
      if (step >= lengths_[b]) continue;
      CopyPanel(cell + b * kPanel, Cell(d) + b * plan_.padded + panel * kPanel);
    }
    StoreHidden(d, step, panel, hidden);
  }

  void ActivateGates(std::int64_t d, std::int64_t step, std::int64_t panel) const {
    for (std::int64_t gate : {0, 1}) Activate(d, 0, Tile(d, gate, panel, step));
  }

  GruRows GruRowsOf(std::int64_t d, std::int64_t step, std::int64_t panel) const {
    const bool is_linear = plan_.options.linear_before_reset;
    return {.rows = batch_,
            .update = Tile(d, 0, panel, step),
            .reset = Tile(d, 1, panel, step),
            .linear = is_linear ? Linear(d, panel) : nullptr,
            .candidate = Tile(d, 2, panel, step),
            .before = Hidden(d, step) + panel * kPanel,
            .passed = is_linear ? nullptr : Reset(d) + panel * kPanel,
            .stride = plan_.padded};
  }

  /// Gates z and r, and the state that r lets pass.
  void FinishGruGates(std::int64_t d, std::int64_t step, std::int64_t panel) const {
    const C* const before = Hidden(d, step);
    const C* const reset = Tile(d, 1, panel, step);
    C* const passed = Reset(d);
    if constexpr (std::is_same_v<C, float>) {
      if (plan_.cells != nullptr) {
        return plan_.cells->gru_gates(GruRowsOf(d, step, panel));
      }
    }
    ActivateGates(d, step, panel);
    ForTile(panel, [=](std::int64_t i, std::int64_t at) { passed[at] = reset[i] * before[at]; });
  }

  void FinishLinearGru(std::int64_t d, std::int64_t step, std::int64_t panel) const {
    const C* const linear = Linear(d, panel);
    const C* const reset = Tile(d, 1, panel, step);
    C* const candidate = Tile(d, 2, panel, step);
    if constexpr (std::is_same_v<C, float>) {
      if (plan_.cells != nullptr) {
        plan_.cells->linear_gru(GruRowsOf(d, step, panel));
        return StoreHidden(d, step, panel, candidate);
      }
    }
    ActivateGates(d, step, panel);
    ForTile(panel, [=](std::int64_t i, std::int64_t) { candidate[i] += reset[i] * linear[i]; });
    FinishGru(d, step, panel);
  }

  void FinishGru(std::int64_t d, std::int64_t step, std::int64_t panel) const {
    C* const candidate = Tile(d, 2, panel, step);
    const C* const update = Tile(d, 0, panel, step);
    const C* const before = Hidden(d, step);
    if constexpr (std::is_same_v<C, float>) {
      if (plan_.cells != nullptr) {
        plan_.cells->gru(GruRowsOf(d, step, panel));
        return StoreHidden(d, step, panel, candidate);
      }
    }
    Activate(d, 1, candidate);
    ForTile(panel, [=](std::int64_t i, std::int64_t at) {
      candidate[i] = (C(1) - update[i]) * candidate[i] + update[i] * before[at];
    });
    StoreHidden(d, step, panel, candidate);
  }
};

}  // namespace poprt::kernels
