#pragma once

#include <cstdint>

/// What a step makes of the sums of the gates of 16 hidden units of a sequence, with the functions
/// that recurrent operators have by default. All in registers: one vector alone waits for itself in
/// each function, several functions do not wait for each other. This header is included by files
/// that are compiled for more than the baseline processor: it must stay free of inline functions.
namespace poprt::kernels {

/// The sums of the gates of some panels of hidden units of a sequence, and its state.
struct LstmPanels {
  const float* in;
  const float* out;
  const float* forget;
  const float* next;
  std::int64_t stride;  ///< from the sums of one panel to those of the next
  std::int64_t count;
  float* cell;
  float* hidden;
  // Peepholes, by which the cell is multiplied and added to the sums of a gate; all null without.
  const float* cell_to_in;
  const float* cell_to_out;
  const float* cell_to_forget;
  float limit;  ///< of what functions are applied to, infinity for none
};

/// The sums of GRU's gates of a panel of hidden units, tiles [row][16] of as many rows as there are
/// sequences, and their states.
struct GruRows {
  std::int64_t rows;
  float* update;
  const float* reset;
  const float* linear;  ///< the state times R, if that is linear before the reset
  float* candidate;
  const float* before;  ///< the state
  float* passed;        ///< what the reset gate lets pass of it
  std::int64_t stride;  ///< of the last two from one row to the next
};

struct RecurrentCells {
  /// cell = sigmoid(forget) * cell + sigmoid(in) * tanh(next), hidden = sigmoid(out) * tanh(cell),
  /// with peepholes and a limit where there are.
  void (*lstm)(const LstmPanels& panels);
  /// update = sigmoid(update), passed = sigmoid(reset) * before.
  void (*gru_gates)(const GruRows& rows);
  /// candidate = (1 - update) * tanh(candidate) + update * before.
  void (*gru)(const GruRows& rows);
  /// The same with sigmoid(update) and candidate + sigmoid(reset) * linear.
  void (*linear_gru)(const GruRows& rows);
};

/// For each instruction set, see inner_loops.hpp.
extern const RecurrentCells kPortableRecurrentCells;
extern const RecurrentCells kAvx2RecurrentCells;
extern const RecurrentCells kAvx512RecurrentCells;

}  // namespace poprt::kernels
