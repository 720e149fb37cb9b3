#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/packed/row_tiles.hpp"
#include "runtime/kernels/parallel.hpp"
#include "runtime/kernels/recurrent/recurrent_state.hpp"
#include "runtime/kernels/recurrent/recurrent_weights.hpp"
#include "runtime/kernels/rounds.hpp"

namespace poprt::kernels {

/// One run of a recurrent kernel on operands of type T. A step s of direction d is time s, or
/// counted from the end of each sequence when the direction is reversed.
template <typename T>
class RecurrentRun : private RecurrentState<T> {
  using Units = RecurrentState<T>;
  using C = typename Units::C;
  using In = RecurrentInput;

 public:
  using Units::Units;

  void Run() {
    ReadLengths();
    PrepareWeights();
    SplitR();
    for (std::int64_t d = 0; d < directions_; ++d) {
      ReadBias(d);
      ReadState(d);
      ClearPastEnd(d);
    }
    // Threads that have a direction each need not wait for each other after every step.
    const int threads = args_.pool == nullptr ? 1 : args_.pool->size();
    const bool has_threads = threads > directions_;
    for (std::int64_t first = 0; first < longest_; first += plan_.chunk) {
      const std::int64_t last = std::min(first + plan_.chunk, longest_);
      const bool shares_inputs = has_threads && plan_.input_tasks > 1;
      if (shares_inputs) ShareInputs(first, last);
      if (has_threads && plan_.tasks > 1) {
        ShareSteps(first, last);
        continue;
      }
      ForRanges(args_.pool, directions_, 1, [&](std::int64_t begin, std::int64_t end, int worker) {
        for (std::int64_t d = begin; d < end; ++d) {
          if (!shares_inputs) ComputeInputs(d, first, last, worker);
          RunSteps(d, first, last);
        }
      });
    }
    for (std::int64_t d = 0; d < directions_; ++d) WriteState(d);
  }

 private:
  using typename Units::PanelRange;
  using typename Units::State;
  using Units::AddState;
  using Units::args_;
  using Units::batch_;
  using Units::Cell;
  using Units::directions_;
  using Units::FinishLstmPanels;
  using Units::FinishPanel;
  using Units::first_sequence_;
  using Units::GatherRow;
  using Units::HasLstmCells;
  using Units::Hidden;
  using Units::Input;
  using Units::lengths_;
  using Units::memory_;
  using Units::Output;
  using Units::OutputRow;
  using Units::Phases;
  using Units::plan_;
  using Units::Project;
  using Units::SplitR;
  using Units::StateOf;
  using Units::StateRow;
  using Units::Time;

  // ---- Before the steps -------------------------------------------------------------------

  /// Lengths are known at run time only: what lies outside [0, steps] is brought inside.
  void ReadLengths() {
    const auto* given = reinterpret_cast<const std::int32_t*>(Input(In::kLengths));
    longest_ = 0;
    for (std::int64_t b = 0; b < batch_; ++b) {
      lengths_[b] = given == nullptr ? plan_.shape.steps
                                     : std::clamp<std::int64_t>(given[first_sequence_ + b], 0,
                                                                plan_.shape.steps);
      longest_ = std::max(longest_, lengths_[b]);
    }
  }

  void PrepareWeights() {
    if (plan_.packed) return;
    ForRanges(args_.pool, 2 * directions_, 1, [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t i = begin; i < end; ++i) {
        const bool of_inputs = i < directions_;
        const std::int64_t d = of_inputs ? i : i - directions_;
        const std::int64_t hidden = plan_.shape.hidden;
        const std::int64_t depth = of_inputs ? plan_.shape.inputs : hidden;
        const T* from = args_.template in<T>(of_inputs ? In::kW : In::kR);
        C* to = memory_ + (of_inputs ? plan_.parts.w : plan_.parts.r);
        PackRecurrentDirection(from + d * plan_.gates * hidden * depth, plan_.gates, hidden, depth,
                               to + d * plan_.layout.count() * depth * kPanel);
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

  // ---- Steps [first, last) ----------------------------------------------------------------

  void ComputeInputs(std::int64_t d, std::int64_t first, std::int64_t last, int worker) const {
    const std::int64_t rows = (last - first) * batch_;
    for (std::int64_t row = 0; row < rows; ++row) GatherRow(d, first, row);
    Project({d, 0, plan_.panels}, first, rows, worker);
  }

  void RunSteps(std::int64_t d, std::int64_t first, std::int64_t last) const {
    StartedUnit matrix_unit(plan_.matrix_unit);
    for (std::int64_t step = first; step < last; ++step) {
      for (int phase = 0; phase < Phases(); ++phase) RunStep(d, step, phase, matrix_unit);
    }
  }

  void ShareInputs(std::int64_t first, std::int64_t last) const {
    const std::int64_t rows = (last - first) * batch_;
    ForRanges(args_.pool, directions_ * rows, GrainFor(plan_.shape.inputs),
              [&](std::int64_t begin, std::int64_t end, int) {
                for (std::int64_t i = begin; i < end; ++i) GatherRow(i / rows, first, i % rows);
              });
    // The matrix unit takes many panels at once.
    const bool has_unit = plan_.split.has_value();
    const std::int64_t tasks = has_unit ? args_.pool->size() : plan_.input_tasks;
    const std::int64_t unit = has_unit ? plan_.panels : plan_.unit;
    args_.pool->Run(tasks, [&](std::int64_t task, int worker) {
      ForUnits(task, tasks, unit, [&](std::int64_t d, std::int64_t from, std::int64_t to) {
        Project({d, from, to}, first, rows, worker);
      });
    });
  }

  void ShareSteps(std::int64_t first, std::int64_t last) const {
    const int parts = static_cast<int>(
        std::min<std::int64_t>({args_.pool->size(), plan_.tasks, kMostRoundParts}));
    const int phases = Phases();
    RunRounds(*args_.pool, (last - first) * phases, parts, [&](std::int64_t round, int part) {
      const std::int64_t step = first + round / phases;
      const auto phase = static_cast<int>(round % phases);
      const bool forwards = Order(step) == TaskOrder::kForwards;
      const std::int64_t begin = part * plan_.tasks / parts;
      const std::int64_t end = (part + 1) * plan_.tasks / parts;
      std::array<std::optional<State>, 2> states;  // of directions
      StartedUnit matrix_unit(plan_.matrix_unit);
      for (std::int64_t i = begin; i < end; ++i) {
        ForUnits(forwards ? i : begin + end - 1 - i, plan_.tasks, plan_.unit,
                 [&](std::int64_t d, std::int64_t from, std::int64_t to) {
                   auto& state = states[static_cast<std::size_t>(d)];
                   if (!state) state = StateOf(d, step, phase, part);
                   RunPanels({d, from, to}, step, phase, *state, matrix_unit);
                 });
      }
    });
  }

  /// Calls f(direction, first panel, one past the last) for units of so many panels of one of
  /// `tasks` parts of the panels of all directions.
  template <typename F>
  void ForUnits(std::int64_t task, std::int64_t tasks, std::int64_t unit, const F& f) const {
    const std::int64_t panels = directions_ * plan_.panels;
    const auto begin = [&](std::int64_t of) { return (panels * of + tasks - 1) / tasks; };
    const std::int64_t end = begin(task + 1);
    for (std::int64_t i = begin(task); i < end;) {
      const std::int64_t first = i % plan_.panels;
      const std::int64_t count = std::min({unit, end - i, plan_.panels - first});
      f(i / plan_.panels, first, first + count);
      i += count;
    }
  }

  // ---- One step -----------------------------------------------------------------------------

  /// Few rows read every weight once a step: what the step before read last is read first, while it
  /// still is in a near cache.
  TaskOrder Order(std::int64_t step) const {
    const bool are_few = batch_ <= kTileRows || plan_.SplitsState();
    return are_few && step % 2 == 1 ? TaskOrder::kBackwards : TaskOrder::kForwards;
  }

  /// All panels of a step.
  void RunStep(std::int64_t d, std::int64_t step, int phase, StartedUnit& matrix_unit) const {
    const State state = StateOf(d, step, phase, 0);
    const std::int64_t units = (plan_.panels - 1) / plan_.unit + 1;
    const bool forwards = Order(step) == TaskOrder::kForwards;
    for (std::int64_t i = 0; i < units; ++i) {
      const std::int64_t first = (forwards ? i : units - 1 - i) * plan_.unit;
      RunPanels({d, first, std::min(first + plan_.unit, plan_.panels)}, step, phase, state,
                matrix_unit);
    }
  }

  /// The panels of one unit.
  void RunPanels(const PanelRange& panels, std::int64_t step, int phase, const State& state,
                 StartedUnit& matrix_unit) const {
    const auto [d, first, last] = panels;
    AddState(panels, step, phase, state, matrix_unit);
    if (HasLstmCells()) return FinishLstmPanels(d, step, first, last);
    for (std::int64_t panel = first; panel < last; ++panel) FinishPanel(d, step, panel, phase);
  }

  std::int64_t longest_ = 0;  ///< steps that any sequence has
};

}  // namespace poprt::kernels
