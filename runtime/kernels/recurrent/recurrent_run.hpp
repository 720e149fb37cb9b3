#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/packed/row_tiles.hpp"
#include "runtime/kernels/parallel.hpp"
#include "runtime/kernels/recurrent/recurrent_product.hpp"
#include "runtime/kernels/recurrent/recurrent_units.hpp"
#include "runtime/kernels/recurrent/recurrent_weights.hpp"

namespace poprt::kernels {

/// One run of a recurrent kernel on operands of type T. A step s of direction d is time s, or
/// counted from the end of each sequence when the direction is reversed.
template <typename T>
class RecurrentRun : private RecurrentUnits<T> {
  using Units = RecurrentUnits<T>;
  using C = typename Units::C;
  using In = RecurrentInput;

 public:
  using Units::Units;

  void Run() {
    ReadLengths();
    PrepareWeights();
    for (std::int64_t d = 0; d < directions_; ++d) {
      ReadBias(d);
      ReadState(d);
      ClearPastEnd(d);
    }
    for (std::int64_t first = 0; first < longest_; first += plan_.chunk) {
      const std::int64_t last = std::min(first + plan_.chunk, longest_);
      ProjectInputs(first, last);
      RunSteps(first, last);
    }
    for (std::int64_t d = 0; d < directions_; ++d) WriteState(d);
  }

 private:
  using Units::args_;
  using Units::batch_;
  using Units::Bias;
  using Units::Cell;
  using Units::CopyPanel;
  using Units::directions_;
  using Units::FinishPanel;
  using Units::Hidden;
  using Units::Input;
  using Units::InputRow;
  using Units::lengths_;
  using Units::Linear;
  using Units::memory_;
  using Units::Output;
  using Units::OutputRow;
  using Units::plan_;
  using Units::Reset;
  using Units::StateRow;
  using Units::Tile;
  using Units::TileStride;
  using Units::Time;
  using Units::WeightPanel;
  using Units::Weights;

  // ---- Before the steps -------------------------------------------------------------------

  /// Lengths are known at run time only: what lies outside [0, steps] is brought inside.
  void ReadLengths() {
    const auto* given = reinterpret_cast<const std::int32_t*>(Input(In::kLengths));
    longest_ = 0;
    for (std::int64_t b = 0; b < batch_; ++b) {
      lengths_[b] = given == nullptr ? plan_.shape.steps
                                     : std::clamp<std::int64_t>(given[b], 0, plan_.shape.steps);
      longest_ = std::max(longest_, lengths_[b]);
    }
  }

  void PrepareWeights() {
    if (plan_.packed) return;
    const std::int64_t matrices = directions_ * plan_.gates;
    ForRanges(args_.pool, 2 * matrices, 1, [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t i = begin; i < end; ++i) {
        const bool of_inputs = i < matrices;
        const std::int64_t matrix = of_inputs ? i : i - matrices;
        const std::int64_t hidden = plan_.shape.hidden;
        const std::int64_t depth = of_inputs ? plan_.shape.inputs : hidden;
        const T* from = args_.template in<T>(of_inputs ? In::kW : In::kR) + matrix * hidden * depth;
        C* to =
            memory_ + (of_inputs ? plan_.parts.w : plan_.parts.r) + matrix * plan_.padded * depth;
        PackRecurrentGate(from, hidden, depth, to);
      }
    });
  }

  /// Both biases of a gate are added to the input's part, except where GRU multiplies between.
  void ReadBias(std::int64_t d) {
    const T* given = Input(In::kB);
    const std::int64_t hidden = plan_.shape.hidden;
    for (std::int64_t gate = 0; gate < plan_.gates; ++gate) {
      const bool apart = plan_.options.linear_before_reset && gate == 2;
      const T* of_w = given == nullptr ? nullptr : given + (d * 2 * plan_.gates + gate) * hidden;
      C* to = memory_ + plan_.parts.bias + (d * plan_.gates + gate) * plan_.padded;
      C* to_r = memory_ + plan_.parts.recurrent_bias + d * plan_.padded;
      for (std::int64_t i = 0; i < plan_.padded; ++i) {
        const bool exists = given != nullptr && i < hidden;
        const C w = exists ? static_cast<C>(of_w[i]) : C{};
        const C r = exists ? static_cast<C>(of_w[plan_.gates * hidden + i]) : C{};
        to[i] = apart ? w : w + r;
        if (apart) to_r[i] = r;
      }
    }
    if (const T* p = Input(In::kP); p != nullptr && plan_.kind == RecurrentKind::kLstm) {
      for (std::int64_t which = 0; which < 3; ++which) {
        ReadRow(p + (d * 3 + which) * hidden,
                memory_ + plan_.parts.peepholes + (d * 3 + which) * plan_.padded);
      }
    }
  }

  /// A row of hidden units, null for zeros, filled up to whole panels.
  void ReadRow(const T* from, C* to) const {
    const std::int64_t count = from == nullptr ? 0 : plan_.shape.hidden;
    for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<C>(from[i]);
    std::fill(to + count, to + plan_.padded, C{});
  }
  void WriteRow(const C* from, T* to) const {
    for (std::int64_t i = 0; i < plan_.shape.hidden; ++i) to[i] = static_cast<T>(from[i]);
  }

  void ReadState(std::int64_t d) {
    const bool has_cell = plan_.kind == RecurrentKind::kLstm;
    for (std::int64_t b = 0; b < batch_; ++b) {
      const std::int64_t at = StateRow(d, b) * plan_.shape.hidden;
      const T* h = Input(In::kInitialH);
      ReadRow(h == nullptr ? nullptr : h + at, Hidden(d, 0) + b * plan_.padded);
      if (!has_cell) continue;
      const T* c = Input(In::kInitialC);
      ReadRow(c == nullptr ? nullptr : c + at, Cell(d) + b * plan_.padded);
    }
  }

  /// The state after a sequence's last step. Without any step it is zero, whatever the initial
  /// state: ONNX says nothing about this, ONNX Runtime has it so.
  void WriteState(std::int64_t d) {
    const bool has_cell = plan_.kind == RecurrentKind::kLstm;
    for (std::int64_t b = 0; b < batch_; ++b) {
      if (T* h = Output(1)) WriteLast(Hidden(d, longest_), h, d, b);
      if (T* c = has_cell ? Output(2) : nullptr) WriteLast(Cell(d), c, d, b);
    }
  }
  void WriteLast(const C* state, T* output, std::int64_t d, std::int64_t b) const {
    T* to = output + StateRow(d, b) * plan_.shape.hidden;
    if (lengths_[b] == 0) {
      std::fill_n(to, plan_.shape.hidden, T{});
    } else {
      WriteRow(state + b * plan_.padded, to);
    }
  }

  void ClearPastEnd(std::int64_t d) {
    T* y = Output(0);
    if (y == nullptr) return;
    for (std::int64_t b = 0; b < batch_; ++b) {
      for (std::int64_t time = lengths_[b]; time < plan_.shape.steps; ++time) {
        std::fill_n(y + OutputRow(d, time, b) * plan_.shape.hidden, plan_.shape.hidden, T{});
      }
    }
  }

  // ---- The input's part of the gates --------------------------------------------------------

  void ProjectInputs(std::int64_t first, std::int64_t last) {
    const std::int64_t rows = (last - first) * batch_;
    const std::int64_t inputs = plan_.shape.inputs;
    ForRanges(args_.pool, directions_ * rows, GrainFor(inputs),
              [&](std::int64_t begin, std::int64_t end, int) {
                for (std::int64_t i = begin; i < end; ++i) {
                  const std::int64_t row = i % rows;
                  GatherRow(i / rows, first + row / batch_, row % batch_, row);
                }
              });
    const std::int64_t pairs = WholeTilePanels(plan_.gates * plan_.panels) / kTilePanels;
    const std::int64_t work = rows * kTilePanels * kPanel * std::max<std::int64_t>(1, inputs / 4);
    ForRanges(args_.pool, directions_ * pairs, GrainFor(work),
              [&](std::int64_t begin, std::int64_t end, int) {
                for (std::int64_t i = begin; i < end; ++i) {
                  ProjectPair(i / pairs, i % pairs * kTilePanels, first, rows);
                }
              });
  }

  C* Row(std::int64_t d, std::int64_t row) const {
    return memory_ + plan_.parts.rows + (d * plan_.chunk * batch_ + row) * plan_.shape.inputs;
  }

  void GatherRow(std::int64_t d, std::int64_t step, std::int64_t b, std::int64_t row) const {
    C* to = Row(d, row);
    const std::int64_t inputs = plan_.shape.inputs;
    if (step >= lengths_[b]) {
      std::fill_n(to, inputs, C{});
      return;
    }
    const T* from = args_.template in<T>(In::kX) + InputRow(Time(d, step, b), b) * inputs;
    for (std::int64_t i = 0; i < inputs; ++i) to[i] = static_cast<C>(from[i]);
  }

  /// The panels of two numbers, or of the last one alone.
  void ProjectPair(std::int64_t d, std::int64_t number, std::int64_t first,
                   std::int64_t rows) const {
    const std::int64_t left = plan_.gates * plan_.panels - number;
    const std::int64_t count = std::min(kTilePanels, left);
    C* const tile = Tile(d, number, first);
    for (std::int64_t p = 0; p < count; ++p) {
      const C* const bias = Bias(d, number + p);
      for (std::int64_t row = 0; row < rows; ++row) {
        CopyPanel(bias, tile + p * TileStride() + row * kPanel);
      }
    }
    AddProduct(
        *plan_.kernels, {Row(d, 0), plan_.shape.inputs, rows}, Weights(In::kW, d, number, count, 1),
        WeightPanel(In::kW, d, left > count ? number + count : number), {tile, TileStride()});
  }

  // ---- Steps ------------------------------------------------------------------------------

  void RunSteps(std::int64_t first, std::int64_t last) {
    const bool resets_first =
        plan_.kind == RecurrentKind::kGru && !plan_.options.linear_before_reset;
    const int phases = resets_first ? 2 : 1;
    // Threads that have a direction each need not wait for each other after every step.
    const int threads = args_.pool == nullptr ? 1 : args_.pool->size();
    if (plan_.tasks == 1 || threads <= directions_) {
      ForRanges(args_.pool, directions_, 1, [&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t d = begin; d < end; ++d) {
          for (std::int64_t step = first; step < last; ++step) {
            for (int phase = 0; phase < phases; ++phase) RunStep(d, step, phase);
          }
        }
      });
      return;
    }
    for (std::int64_t step = first; step < last; ++step) {
      for (int phase = 0; phase < phases; ++phase) {
        args_.pool->Run(
            plan_.tasks, [&](std::int64_t task, int) { RunTask(task, step, phase); }, Order(step));
      }
    }
  }

  /// Few rows read every weight once a step: what the step before read last is read first, while it
  /// still is in a near cache.
  TaskOrder Order(std::int64_t step) const {
    return batch_ <= kTileRows && step % 2 == 1 ? TaskOrder::kBackwards : TaskOrder::kForwards;
  }

  /// All panels of a step, in pairs, which whole tiles compute.
  void RunStep(std::int64_t d, std::int64_t step, int phase) const {
    const std::int64_t pairs = WholeTilePanels(plan_.panels) / kTilePanels;
    const bool forwards = Order(step) == TaskOrder::kForwards;
    for (std::int64_t i = 0; i < pairs; ++i) {
      const std::int64_t first = (forwards ? i : pairs - 1 - i) * kTilePanels;
      RunPanels(d, step, first, std::min(first + kTilePanels, plan_.panels), phase);
    }
  }

  /// A part of the panels of all directions of a step.
  void RunTask(std::int64_t task, std::int64_t step, int phase) const {
    const std::int64_t panels = directions_ * plan_.panels;
    const auto begin = [&](std::int64_t of) {
      return (panels * of + plan_.tasks - 1) / plan_.tasks;
    };
    const std::int64_t end = begin(task + 1);
    for (std::int64_t i = begin(task); i < end;) {
      const std::int64_t first = i % plan_.panels;
      const std::int64_t count = std::min({kTilePanels, end - i, plan_.panels - first});
      RunPanels(i / plan_.panels, step, first, first + count, phase);
      i += count;
    }
  }

  /// Panels [first, last), one or two.
  void RunPanels(std::int64_t d, std::int64_t step, std::int64_t first, std::int64_t last,
                 int phase) const {
    switch (plan_.kind) {
      case RecurrentKind::kRnn:
        AddPanels(Hidden(d, step), d, 0, first, last, {Tile(d, 0, first, step), TileStride()});
        break;
      case RecurrentKind::kGru:
        if (phase == 0) AddGates(d, step, 2, first, last);
        if (plan_.options.linear_before_reset) {
          AddLinear(d, step, first, last);
        } else if (phase == 1) {
          AddPanels(Reset(d), d, 2, first, last, {Tile(d, 2, first, step), TileStride()});
        }
        break;
      case RecurrentKind::kLstm:
        AddGates(d, step, 4, first, last);
    }
    for (std::int64_t panel = first; panel < last; ++panel) FinishPanel(d, step, panel, phase);
  }

  /// Adds the state times R to the tiles of the first gates, all of them for one panel at once.
  void AddGates(std::int64_t d, std::int64_t step, int gates, std::int64_t first,
                std::int64_t last) const {
    const std::int64_t panels = plan_.panels;
    for (std::int64_t panel = first; panel < last; ++panel) {
      AddProduct(*plan_.kernels, {Hidden(d, step), plan_.padded, batch_},
                 Weights(In::kR, d, panel, gates, panels),
                 WeightPanel(In::kR, d, (panel + 1) % panels),
                 {Tile(d, panel, step), panels * TileStride()});
    }
  }

  /// Adds rows * R of one gate to the tiles of panels.
  void AddPanels(const C* rows, std::int64_t d, std::int64_t gate, std::int64_t first,
                 std::int64_t last, const RecurrentTiles<C>& tiles) const {
    const std::int64_t panels = plan_.panels;
    AddProduct(*plan_.kernels, {rows, plan_.padded, batch_},
               Weights(In::kR, d, gate * panels + first, last - first, 1),
               WeightPanel(In::kR, d, gate * panels + last % panels), tiles);
  }

  /// GRU: what the reset gate is multiplied by, when that is linear before.
  void AddLinear(std::int64_t d, std::int64_t step, std::int64_t first, std::int64_t last) const {
    for (std::int64_t panel = first; panel < last; ++panel) {
      const C* bias = memory_ + plan_.parts.recurrent_bias + d * plan_.padded + panel * kPanel;
      for (std::int64_t b = 0; b < batch_; ++b) CopyPanel(bias, Linear(d, panel) + b * kPanel);
    }
    AddPanels(Hidden(d, step), d, 2, first, last, {Linear(d, first), batch_ * kPanel});
  }

  std::int64_t longest_ = 0;  ///< steps that any sequence has
};

}  // namespace poprt::kernels
