#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "runtime/kernels/matrix_unit/multiply_split.hpp"
#include "runtime/kernels/packed/row_tiles.hpp"
#include "runtime/kernels/recurrent/recurrent_product.hpp"
#include "runtime/kernels/recurrent/recurrent_units.hpp"

namespace poprt::kernels {

/// The input's part of the gates of a chunk of steps: its rows are the inputs of all sequences at
/// each step.
template <typename T>
class RecurrentInputs : protected RecurrentUnits<T> {
  using Units = RecurrentUnits<T>;
  using In = RecurrentInput;

 public:
  using C = typename Units::C;
  using Units::Units;

 protected:
  using Units::args_;
  using Units::batch_;
  using Units::Bias;
  using Units::CopyPanel;
  using Units::InputRow;
  using Units::IsShared;
  using Units::lengths_;
  using Units::memory_;
  using Units::plan_;
  using Units::SharedTiles;
  using Units::SharedWeights;
  using Units::Tile;
  using Units::TileStride;
  using Units::Time;
  using Units::WeightPanel;
  using Units::Weights;

  /// Panels [first, last) of all gates of a direction.
  struct PanelRange {
    std::int64_t direction;
    std::int64_t first;
    std::int64_t last;
  };

  /// Copies a row of the steps from `first` on.
  void GatherRow(std::int64_t d, std::int64_t first, std::int64_t row) const {
    const std::int64_t step = first + row / batch_;
    const std::int64_t b = row % batch_;
    C* to = Row(d, row);
    const std::int64_t inputs = plan_.shape.inputs;
    if (step >= lengths_[b]) {
      std::fill_n(to, inputs, C{});
      return;
    }
    const T* from = args_.template in<T>(In::kX) + InputRow(Time(d, step, b), b) * inputs;
    for (std::int64_t i = 0; i < inputs; ++i) to[i] = static_cast<C>(from[i]);
  }

  /// Fills the tiles of some panels with the biases and the products of `rows` rows, which have
  /// been copied, of the steps from `first` on.
  void Project(const PanelRange& panels, std::int64_t first, std::int64_t rows, int worker) const {
    if constexpr (std::is_same_v<C, float>) {
      if (plan_.split.has_value()) {
        const std::int64_t last = std::min(panels.last, plan_.layout.of_gate);
        ProjectOnUnit({panels.direction, panels.first, last}, first, rows, worker);
        if (last < panels.last) ProjectShared(panels.direction, first, rows);
        return;
      }
    }
    ProjectPanels(panels, first, rows);
  }

  /// Adds rows times W or R to the tiles of the units that lie in shared panels, of the steps from
  /// `first` on.
  void AddShared(std::int64_t d, std::size_t input, const RecurrentRows<C>& rows,
                 std::int64_t first) const {
    const RecurrentPanelLayout& layout = plan_.layout;
    C* const sums = SharedTiles(d);
    const std::int64_t stride = rows.rows * kPanel;
    std::fill_n(sums, layout.shared * stride, C{});
    AddProduct(*plan_.loops, rows, SharedWeights(input, d), WeightPanel(input, d, 0),
               {sums, stride});
    for (std::int64_t gate = 0; gate < layout.gates; ++gate) {
      C* const to = Tile(d, gate, plan_.panels - 1, first);
      // The columns of a gate may begin in one panel and end in the next.
      for (std::int64_t c = 0; c < layout.rest;) {
        const std::int64_t column = gate * layout.rest + c;
        const std::int64_t count = std::min(layout.rest - c, kPanel - column % kPanel);
        const C* const from = sums + column / kPanel * stride + column % kPanel;
        for (std::int64_t row = 0; row < rows.rows; ++row) {
          POPRT_INDEPENDENT_LOOP
          for (std::int64_t i = 0; i < count; ++i) {
            to[row * kPanel + c + i] += from[row * kPanel + i];
          }
        }
        c += count;
      }
    }
  }

 private:
  C* Row(std::int64_t d, std::int64_t row) const {
    return memory_ + plan_.parts.rows + (d * plan_.chunk * batch_ + row) * plan_.shape.inputs;
  }

  /// As many panels in pairs as can be: of an even number of gates first, which is all of LSTM's,
  /// then of the last gate.
  void ProjectPanels(const PanelRange& range, std::int64_t first, std::int64_t rows) const {
    const auto [d, from, to] = range;
    const std::int64_t panels = plan_.panels;
    const std::int64_t even = plan_.gates / 2 * 2;
    for (std::int64_t panel = from; even > 0 && panel < to; ++panel) {
      if (IsShared(panel)) {
        ProjectShared(d, first, rows);
      } else {
        ProjectSome(d, panel, even, /*of_gates=*/true, first, rows);
      }
    }
    for (std::int64_t panel = from; even < plan_.gates && panel < to; panel += kMostTilePanels) {
      ProjectSome(d, even * panels + panel, std::min(kMostTilePanels, to - panel),
                  /*of_gates=*/false, first, rows);
    }
  }

  /// `count` panels from a number on: of one gate, or of the same units of several.
  void ProjectSome(std::int64_t d, std::int64_t number, std::int64_t count, bool of_gates,
                   std::int64_t first, std::int64_t rows) const {
    C* const tile = Tile(d, number, first);
    const std::int64_t apart = of_gates ? plan_.panels : 1;
    const std::int64_t stride = apart * TileStride();
    const std::int64_t next = (number + (of_gates ? 1 : count)) % (plan_.gates * plan_.panels);
    for (std::int64_t p = 0; p < count; ++p)
      FillWithBias(d, number + p * apart, tile + p * stride, rows);
    AddProduct(*plan_.loops, {Row(d, 0), plan_.shape.inputs, rows},
               Weights(In::kW, d, number, count, of_gates), WeightPanel(In::kW, d, next),
               {tile, stride});
  }

  void ProjectShared(std::int64_t d, std::int64_t first, std::int64_t rows) const {
    for (std::int64_t gate = 0; gate < plan_.gates; ++gate) {
      const std::int64_t number = (gate + 1) * plan_.panels - 1;
      FillWithBias(d, number, Tile(d, number, first), rows);
    }
    AddShared(d, In::kW, {Row(d, 0), plan_.shape.inputs, rows}, first);
  }

  void FillWithBias(std::int64_t d, std::int64_t number, C* tile, std::int64_t rows) const {
    for (std::int64_t row = 0; row < rows; ++row) CopyPanel(Bias(d, number), tile + row * kPanel);
  }

  // ---- On the matrix unit -------------------------------------------------------------------

  void ProjectOnUnit(const PanelRange& range, std::int64_t first, std::int64_t rows,
                     int worker) const {
    const std::int64_t d = range.direction;
    const std::int64_t inputs = plan_.shape.inputs;
    const std::int64_t panels = range.last - range.first;
    if (panels <= 0) return;
    // Panels of the product are those of the first gate, then those of the next.
    const auto number_of = [&](std::int64_t panel) {
      return panel / panels * plan_.panels + range.first + panel % panels;
    };
    const RowMajorRows found(inputs);
    const auto rows_at = [&](std::int64_t row, std::int64_t k, SplitRows& of) {
      found.Find(Row(d, row) + k, inputs - k, of);
    };
    const auto panel_at = [&](std::int64_t panel, std::int64_t k, std::int64_t) -> const void* {
      const void* const weights = WeightPanel(In::kW, d, number_of(panel));
      if (plan_.half_weights) return static_cast<const std::uint16_t*>(weights) + k * kPanel;
      return static_cast<const float*>(weights) + k * kPanel;
    };
    const auto start_at = [&](std::int64_t panel) { return Bias(d, number_of(panel)); };
    const auto finish = [&](const SplitTask& task, const float* sums) {
      for (std::int64_t panel = task.first_panel; panel < task.last_panel; ++panel) {
        std::copy_n(sums + (panel - task.first_panel) * kSplitPairSums, task.rows * kPanel,
                    Tile(d, number_of(panel), first) + task.first_row * kPanel);
      }
    };
    const auto compute = [&](std::int64_t row, std::int64_t panel) {
      const std::int64_t number = number_of(panel);
      C* const tile = Tile(d, number, first) + row * kPanel;
      FillWithBias(d, number, tile, 1);
      AddProduct(*plan_.loops, {Row(d, row), inputs, 1}, Weights(In::kW, d, number, 1, false),
                 WeightPanel(In::kW, d, number), {tile, TileStride()});
    };
    std::byte* const scratch =
        args_.scratch + static_cast<std::size_t>(worker) * plan_.scratch_bytes + plan_.split_at;
    const SplitTasks tasks = plan_.split->TasksOf(rows, plan_.gates * panels);
    for (std::int64_t task = 0; task < tasks.count(); ++task) {
      MultiplySplit(*plan_.matrix_unit, *plan_.split, tasks.At(task), rows_at, panel_at, start_at,
                    finish, compute, scratch);
    }
  }
};

}  // namespace poprt::kernels
